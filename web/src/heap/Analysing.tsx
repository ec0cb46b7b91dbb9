/** That a snapshot is being analysed, in the line of the tabs. */
import { analysing } from "../engine/analysing.ts";
import { engine, waiting } from "../engine/useQuery.ts";
import { snapshot } from "./state.ts";

export function Analysing() {
  const now = analysing.value;
  // A file's own engine does one thing at a time, and says nothing meanwhile.
  const busy = engine().kind === "offline" && waiting.value > 0;
  if (!now && !busy) return null;
  return (
    <span class="analysing" role="status">
      <span class="spinner" aria-hidden="true" />
      {now ? `analysing snapshot ${now.snapshot}` : `working on snapshot ${snapshot.value?.number}`}
    </span>
  );
}
