/** What everything is compared with: selected once, it stays while the filter changes. */
import { about } from "../state/about.ts";
import { go, page } from "../state/page.ts";
import { Icon } from "../widgets/Icon.tsx";
import { filterInWords, nameOf } from "./Sides.tsx";
import { present, sameSide, selectedBaseline, withBaseline, type Side } from "./sides.ts";

export function Baseline() {
  const baseline = selectedBaseline();
  const set = (side: Side | null): void => go({ more: withBaseline(page.value.more, side) });
  if (!baseline) {
    return (
      <button
        type="button"
        class="button plain small"
        title="Compare with what is shown now, whatever the filter becomes: tables have a column for it"
        onClick={() => set(present())}
      >
        Keep as baseline
      </button>
    );
  }
  const several = (about.value?.recordings.length ?? 0) > 1;
  const words = several ? `${nameOf(baseline)}: ${filterInWords(baseline)}` : filterInWords(baseline);
  return (
    <span class="baseline">
      <button
        type="button"
        class="clip"
        title={`baseline: ${words}; shows it`}
        disabled={sameSide(baseline, present())}
        onClick={() => go({ rec: baseline.rec, filter: baseline.filter })}
      >
        compared with {words}
      </button>
      <button
        type="button"
        class="condition-close"
        aria-label="remove the baseline"
        title="remove"
        onClick={() => set(null)}
      >
        <Icon name="close" />
      </button>
    </span>
  );
}
