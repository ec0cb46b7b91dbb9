/** Live memory over time: the whole in pale colours, the selected part over it, and two brushes. */
import "./timeline.css";
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useQuery } from "../engine/useQuery.ts";
import type { RecordingInfo } from "../generated/responses.ts";
import { failure } from "../live/live.ts";
import { useKeys } from "../shell/keys.ts";
import { recording } from "../state/about.ts";
import { filter, rec } from "../state/page.ts";
import { selectedSums, filterError } from "../state/sums.ts";
import { seconds } from "../text/units.ts";
import { Splitter } from "../widgets/Splitter.tsx";
import { useSize } from "../widgets/size.ts";
import { shown } from "./ranges.ts";
import { Collector } from "./Collector.tsx";
import { Controls } from "./Controls.tsx";
import { Lane } from "./Lane.tsx";
import { choose, clear, lane, SECOND_LANE } from "./lanes.ts";
import { LEFT, RIGHT } from "./curves.ts";
import { useProcess } from "./measured.ts";
import { Plot } from "./Plot.tsx";
import { Readout } from "./Readout.tsx";
import type { Scale } from "./scale.ts";
import { useWheel } from "./wheel.ts";
import { shownWindow, toggleZoom } from "./zoom.ts";

const height = signal(innerHeight < 760 ? 120 : 156);
/** More points than pixels tell nothing; queries that differ by a pixel are not worth it. */
const POINTS_STEP = 128;

/** Why there are no samples to draw. */
function noSamples(run: RecordingInfo) {
  if (run.impossible) return "no samples: allocations could not be recorded, as the notes say";
  if (run.state === "growing") return "no samples yet";
  return "no samples: the program allocated too little for this rate";
}

export function Timeline() {
  const run = recording.value;
  const duration = run?.duration ?? 0;
  const peakTime = run?.totals.peak.time ?? 0;
  const window = shownWindow();
  const place = useRef<HTMLDivElement>(null);
  const { width } = useSize(place);
  const points = Math.min(2048, Math.max(POINTS_STEP, Math.ceil(width / POINTS_STEP) * POINTS_STEP));
  const part = window.whole ? {} : { from: window.from, to: window.to };
  const ready = run !== null && width > 0;
  const process = useProcess(ready);
  const overview = (conditions: readonly string[]) => ({
    query: "overview" as const,
    rec: rec.value,
    filter: conditions,
    points,
    ...part,
  });
  const { response: latest, error } = useQuery(ready ? overview(filter.value) : null);
  // Where the engine refuses the filter, the whole is still there to choose from.
  const refused = error?.condition !== undefined;
  const whole = useQuery(ready && refused ? overview([]) : null);
  const response = refused ? whole.response : latest;
  const filtered = filter.value.length > 0 && !refused;
  useEffect(() => {
    selectedSums.value = refused ? null : latest;
  }, [latest, refused]);
  useEffect(() => {
    filterError.value = error;
  }, [error]);

  const empty = response !== null && response.columns.numbers("time").length === 0;
  const drawable = run !== null && width > 0 && duration > 0;
  const scale: Scale = { from: window.from, to: window.to, width: Math.max(0, width - LEFT - RIGHT) };
  const allocated = shown(filter.value, ["allocated"], duration, peakTime);
  const second = shown(filter.value, SECOND_LANE, duration, peakTime);
  const secondKey = (second?.key ?? lane.value) as "live" | "collected";

  useKeys("Timeline", [
    { keys: "a", does: "choose when memory was allocated", run: () => focusLane("allocated", allocated !== null) },
    { keys: "c", does: "choose when it was live or collected", run: () => focusLane("second", second !== null) },
    { keys: "z", does: "zoom to the selected time, or out", run: toggleZoom },
    { keys: "ArrowLeft ArrowRight", does: "move what has the focus (Shift: ten times as far)" },
    { keys: "Delete", does: "remove what has the focus" },
    { keys: "Ctrl+wheel", does: "zoom; Shift+wheel moves" },
  ]);

  const focusLane = (id: string, exists: boolean) => {
    if (!drawable) return;
    if (!exists) {
      const span = window.to - window.from;
      if (id === "allocated") choose("allocated", { from: window.from + span / 4, to: window.to - span / 4 });
      else choose(secondKey, { from: window.from + span / 2, to: window.from + span / 2 });
    }
    requestAnimationFrame(() => document.querySelector<HTMLElement>(`#lane-${id} .handle.both`)?.focus());
  };

  useWheel(place, scale, duration);

  return (
    <section class="timeline" aria-label="memory over time">
      <Controls allocated={allocated} second={second} secondKey={secondKey} resident={process?.memory != null} />
      <div class="plot" ref={place} style={{ height: `${height.value}px` }}>
        {!empty && (
          <Plot
            response={response}
            process={process}
            width={width}
            height={height.value}
            scale={scale}
            filtered={filtered}
          />
        )}
        {empty && <div class="plot-error">{run && noSamples(run)}</div>}
        {error && !response && <div class="plot-error">{error.message}</div>}
        {!run && !failure.value && <div class="plot-error slow">reading the recording …</div>}
        {drawable && !empty && (
          <div class="over" style={{ left: `${LEFT}px`, width: `${scale.width}px` }}>
            <Lane
              id="lane-allocated"
              label="Memory over time"
              class="main-lane"
              name="allocated"
              scale={scale}
              duration={duration}
              spans={allocated?.spans ?? []}
              movable={allocated?.range != null}
              say={seconds}
              onChange={(span, how) => choose("allocated", span, how)}
              onClear={() => clear(["allocated"])}
            />
            {response && <Readout response={response} process={process} scale={scale} filtered={filtered} />}
          </div>
        )}
      </div>
      {drawable && !empty && (
        <div style={{ marginLeft: `${LEFT}px`, width: `${scale.width}px` }}>
          <Collector process={process} scale={scale} />
        </div>
      )}
      <div class="second">
        {drawable && !empty && (
          <div class="over" style={{ left: `${LEFT}px`, width: `${scale.width}px` }}>
            <Lane
              id="lane-second"
              class={`second-lane ${secondKey}`}
              name={secondKey}
              scale={scale}
              duration={duration}
              spans={second?.spans ?? []}
              movable={second?.range != null}
              say={seconds}
              onChange={(span, how) => choose(secondKey, span, how)}
              onClear={() => clear(SECOND_LANE)}
              {...(secondKey === "live" ? { onPoint: (time: number) => choose("live", { from: time, to: time }) } : {})}
            />
            {second?.never && <span class="never">never collected</span>}
            {!second && (
              <span class="lane-hint">
                {secondKey === "live"
                  ? "click: live at that moment; drag: live in a stretch"
                  : "drag: collected in a stretch"}
              </span>
            )}
          </div>
        )}
      </div>
      <Splitter
        label="height of the timeline"
        axis="level"
        value={height.value}
        min={72}
        max={Math.max(160, innerHeight * 0.5)}
        onChange={(next) => (height.value = next)}
      />
    </section>
  );
}
