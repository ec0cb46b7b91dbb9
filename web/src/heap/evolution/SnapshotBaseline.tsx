/** The snapshot that tables are compared with: selected once, it stays while others are looked at. */
import { Selected } from "../../compare/Baseline.tsx";
import { nameOf } from "../../compare/Sides.tsx";
import { selectedBaseline, withBaseline } from "../../compare/sides.ts";
import { go, page, rec, withParam } from "../../state/page.ts";
import { recordingBefore } from "../changes/before.ts";
import { chooseSnapshot, included, selectedBase, snapshot, titleOf } from "../state.ts";

export function SnapshotBaseline() {
  const side = selectedBaseline();
  const now = snapshot.value;
  const base = selectedBase.value;
  if (side && recordingBefore() !== rec.value) {
    const remove = () => go({ more: withBaseline(page.value.more, null) });
    return <Selected name={nameOf(side)} show={null} remove={remove} />;
  }
  if (base) {
    const remove = () => go({ more: withParam(page.value.more, "base", "") });
    const show = base === now ? null : () => chooseSnapshot(base.number);
    return <Selected name={`snapshot ${titleOf(base)}`} show={show} remove={remove} />;
  }
  if (!now || included.value.length < 2) return null;
  const keep = () => go({ more: withParam(page.value.more, "base", String(now.number)) });
  return (
    <button
      type="button"
      class="button plain small"
      title="Compare with this snapshot, whichever is looked at: tables have a column for it"
      onClick={keep}
    >
      Keep as baseline
    </button>
  );
}
