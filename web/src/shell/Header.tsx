/** What is looked at, its totals, and the page's tools. */
import { recording } from "../state/about.ts";
import { bytes, seconds } from "../text/units.ts";
import { Icon } from "../widgets/Icon.tsx";
import { helpOpen } from "./Help.tsx";
import { theme, toggleTheme } from "./theme.ts";

export function Header() {
  const run = recording.value;
  return (
    <header class="header">
      <h1 class="clip" title={run?.args.join(" ")}>
        {run ? run.program : "memtrail"}
      </h1>
      {run && (
        <div class="facts">
          <span title="how long the recording is">{seconds(run.duration)}</span>
          <span title="everything that was allocated, estimated from the samples">
            <b>{bytes(run.totals.allocated.value)}</b> allocated
          </span>
        </div>
      )}
      <div class="tools">
        <button
          type="button"
          class="icon-button"
          title={`${theme.value === "dark" ? "light" : "dark"} theme (t)`}
          aria-label={`${theme.value === "dark" ? "light" : "dark"} theme`}
          onClick={toggleTheme}
        >
          <Icon name={theme.value === "dark" ? "sun" : "moon"} />
        </button>
        <button
          type="button"
          class="icon-button"
          title="keys (?)"
          aria-label="keys"
          onClick={() => (helpOpen.value = true)}
        >
          ?
        </button>
      </div>
    </header>
  );
}
