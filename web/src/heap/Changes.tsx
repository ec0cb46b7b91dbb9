/** What changed between two snapshots, and what grew from each snapshot to the next. */
import type { View } from "../shell/registry.ts";
import { param, rec } from "../state/page.ts";
import { Segmented } from "../widgets/Segmented.tsx";
import { Empty } from "../widgets/State.tsx";
import { Differences } from "./changes/Differences.tsx";
import { chooseRecordingBefore, recordingBefore, withSnapshots } from "./changes/before.ts";
import { Grown } from "./changes/Grown.tsx";
import { included, snapshots } from "./state.ts";

const what = param("changes", "diff");

const WHAT = [
  { id: "diff", title: "Two snapshots", what: "what is more and what is less in one of two" },
  { id: "growth", title: "Growth", what: "only what grew from snapshot to snapshot" },
];

function Changes() {
  const growth = what.value === "growth";
  const other = recordingBefore() !== rec.value;
  if (snapshots.value.length < 2 && !other) {
    return (
      <Empty title="There is only one snapshot">
        <p>memtrail run --snapshot every-major takes one at each major collection.</p>
        <OtherRecordings />
      </Empty>
    );
  }
  const switcher = (
    <Segmented label="changes" options={WHAT} value={growth ? "growth" : "diff"} onChoose={(id) => what.set(id)} />
  );
  if (growth) return <Grown switcher={switcher} />;
  if (included.value.length < 2 && !other) {
    return (
      <Empty title="Only one snapshot can be looked at here">
        <p>{switcher}</p>
      </Empty>
    );
  }
  return <Differences switcher={switcher} />;
}

/** Leads to the comparison with the snapshots of other recordings. */
function OtherRecordings() {
  const others = withSnapshots().filter((one) => one.rec !== rec.value);
  return (
    <p>
      {others.map((other) => (
        <button key={other.rec} type="button" class="button" onClick={() => chooseRecordingBefore(other.rec)}>
          Compare with {other.name}
        </button>
      ))}
    </p>
  );
}

export const changesView: View = {
  id: "changes",
  half: "heap",
  title: "Changes",
  what: "What changed between two snapshots, also of two recordings, and what always grew",
  Component: Changes,
};
