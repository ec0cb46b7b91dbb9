/** Above the plot: what the colours mean, what is selected, typed, and how time is shown. */
import { recording } from "../state/about.ts";
import { filter } from "../state/page.ts";
import { Icon } from "../widgets/Icon.tsx";
import { Segmented } from "../widgets/Segmented.tsx";
import type { LaneKey, Shown } from "./ranges.ts";
import { areas } from "./areas.ts";
import { Ends } from "./Ends.tsx";
import { axis, chooseTyped, clear, lane, SECOND_LANE } from "./lanes.ts";
import { rssShown } from "./measured.ts";
import { shownWindow, toggleZoom } from "./zoom.ts";

interface Props {
  allocated: Shown | null;
  second: Shown | null;
  secondKey: "live" | "collected";
  /** Whether resident memory was measured. */
  resident: boolean;
}

export function Controls({ allocated, second, secondKey, resident }: Props) {
  const startUnix = recording.value?.start_unix ?? 0;
  const filtered = filter.value.length > 0;
  const whole = shownWindow().whole;
  return (
    <div class="controls">
      <h2>Live memory</h2>
      <span class="legend">
        {areas().map(({ area, name }) => (
          <Key
            key={area}
            color={`--${area}`}
            name={name}
            what={area === "external" ? recording.value?.caveats.external : undefined}
          />
        ))}
        {filtered && <Key color="--selected" name="selected" />}
        {resident && (
          <button
            type="button"
            class="button small"
            aria-pressed={rssShown.value !== ""}
            title="draw resident memory (RSS) over it"
            onClick={() => rssShown.set(rssShown.value ? "" : "1", "replace")}
          >
            <span class="swatch" style={{ background: "var(--ink-2)" }} />
            RSS
          </button>
        )}
      </span>
      <span class="grow" />
      <span class="choice first">
        <label>Allocated in</label>
        <Ends
          name="allocated"
          range={allocated?.range ?? null}
          startUnix={startUnix}
          onChange={(range) => chooseTyped("allocated", range)}
        />
        <Clear shown={allocated} name="allocated" keys={["allocated"]} />
      </span>
      <span class="choice second-choice">
        <Segmented
          label="what the second lane chooses"
          options={[
            { id: "live", title: "Live in", what: "blocks that were live at a moment or in a stretch" },
            { id: "collected", title: "Collected in", what: "blocks that were collected in a stretch" },
          ]}
          value={secondKey}
          onChoose={(key) => chooseLane(key as "live" | "collected", second)}
        />
        <Ends
          name={secondKey}
          range={second?.range ?? null}
          startUnix={startUnix}
          onChange={(range) => chooseTyped(secondKey, range)}
        />
        <Clear shown={second} name={secondKey} keys={SECOND_LANE} />
      </span>
      <Segmented
        label="time axis"
        options={[
          { id: "elapsed", title: "Elapsed", what: "time since the start" },
          { id: "wall", title: "Clock", what: "time of day where you are" },
        ]}
        value={axis.value}
        onChoose={(id) => axis.set(id)}
      />
      <button
        type="button"
        class="icon-button small"
        aria-pressed={!whole}
        title={whole ? "zoom to the selected time (z)" : "show the whole recording (z)"}
        aria-label={whole ? "zoom to the selected time" : "show the whole recording"}
        onClick={toggleZoom}
      >
        <Icon name="zoom" />
      </button>
    </div>
  );
}

function Key({ color, name, what }: { color: string; name: string; what?: string | undefined }) {
  return (
    <span class="key" title={what}>
      <span class="swatch" style={{ background: `var(${color})` }} />
      {name}
    </span>
  );
}

/** Keeps its place when there is nothing to clear. */
function Clear({ shown, name, keys }: { shown: Shown | null; name: string; keys: readonly LaneKey[] }) {
  return (
    <button
      type="button"
      class="icon-button small"
      aria-label={`remove the choice of ${name}`}
      title="remove"
      disabled={!shown}
      onClick={() => clear(keys)}
    >
      <Icon name="close" />
    </button>
  );
}

/** A range that is there is kept, with its other meaning. */
function chooseLane(key: "live" | "collected", second: Shown | null): void {
  lane.set(key, "replace");
  if (second?.range) chooseTyped(key, second.range);
}
