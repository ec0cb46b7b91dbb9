/** That a snapshot is being analysed, in the line of the tabs. */
import { analysing } from "../engine/analysing.ts";
import { percent } from "../text/units.ts";

export function Analysing() {
  const now = analysing.value;
  if (!now) return null;
  return (
    <span class="analysing" role="status">
      <span class="spinner" aria-hidden="true" />
      analysing snapshot {now.snapshot}
      {now.done !== null && `: ${percent(now.done)}`}
    </span>
  );
}
