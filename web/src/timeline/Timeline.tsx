/** Live memory over time: the whole in pale colours, the chosen part over it, and two brushes. */
import "uplot/dist/uPlot.min.css";
import "./timeline.css";
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import type { Overview } from "../engine/answers.ts";
import { useAsk } from "../engine/asking.ts";
import type { Answer } from "../engine/slab.ts";
import { useKeys } from "../shell/keys.ts";
import { theme } from "../shell/theme.ts";
import { recording } from "../state/about.ts";
import { setChips } from "../state/filter.ts";
import { filter, param, rec } from "../state/page.ts";
import { chosenSums, refusal } from "../state/sums.ts";
import { seconds } from "../text/units.ts";
import { Splitter } from "../widgets/Splitter.tsx";
import { useSize } from "../widgets/size.ts";
import { rangeChip, shown, chipOf, type LaneKey, type Span } from "./choice.ts";
import { Controls } from "./Controls.tsx";
import { Lane } from "./Lane.tsx";
import { LEFT, makePlot, RIGHT, stacked, type Curves } from "./plot.ts";
import { Readout } from "./Readout.tsx";
import { zoomed, type Scale } from "./scale.ts";
import { shownWindow, toggleZoom, zoomTo } from "./zoom.ts";

/** Elapsed or wall time. */
export const axis = param("axis", "elapsed");
/** What the second lane chooses. */
export const lane = param("lane", "live");

const height = signal(innerHeight < 760 ? 120 : 156);
/** More points than pixels tell nothing; asks that differ by a pixel are not worth it. */
const POINTS_STEP = 128;

export const SECOND_LANE: readonly LaneKey[] = ["live", "collected"];

export function Timeline() {
  const run = recording.value;
  const duration = run?.duration ?? 0;
  const peakTime = run?.totals.peak.time ?? 0;
  const window = shownWindow();
  const place = useRef<HTMLDivElement>(null);
  const { width } = useSize(place);
  const points = Math.min(2048, Math.max(POINTS_STEP, Math.ceil(width / POINTS_STEP) * POINTS_STEP));
  const part = window.whole ? {} : { from: window.from, to: window.to };
  const { answer, error } = useAsk<Overview>(
    run && width > 0 ? { ask: "overview", rec: rec.value, filter: filter.value, points, ...part } : null,
  );

  useEffect(() => {
    chosenSums.value = answer;
  }, [answer]);
  useEffect(() => {
    refusal.value = error;
  }, [error]);

  const scale: Scale = { from: window.from, to: window.to, width: Math.max(0, width - LEFT - RIGHT) };
  const allocated = shown(filter.value, ["allocated"], duration, peakTime);
  const second = shown(filter.value, SECOND_LANE, duration, peakTime);
  const secondKey = (second?.key ?? lane.value) as "live" | "collected";

  useKeys("Timeline", [
    { keys: "a", does: "choose when memory was allocated", run: () => focusLane("allocated", allocated !== null) },
    { keys: "c", does: "choose when it was live or collected", run: () => focusLane("second", second !== null) },
    { keys: "z", does: "zoom to the chosen time, or out", run: toggleZoom },
    { keys: "ArrowLeft ArrowRight", does: "move what has the focus (Shift: ten times as far)" },
    { keys: "Delete", does: "remove what has the focus" },
    { keys: "Ctrl+wheel", does: "zoom; Shift+wheel moves" },
  ]);

  const focusLane = (id: string, exists: boolean) => {
    if (!exists) {
      const span = window.to - window.from;
      if (id === "allocated") choose("allocated", { from: window.from + span / 4, to: window.to - span / 4 });
      else choose(secondKey, { from: window.from + span / 2, to: window.from + span / 2 });
    }
    requestAnimationFrame(() => document.querySelector<HTMLElement>(`#lane-${id} .handle`)?.focus());
  };

  useWheel(place, scale, duration);

  const say = (time: number) => seconds(time);
  const clearKeys = (keys: readonly LaneKey[]) => setChips(keys, []);
  return (
    <section class="timeline" aria-label="memory over time">
      <Controls allocated={allocated} second={second} secondKey={secondKey} />
      <div class="plot" ref={place} style={{ height: `${height.value}px` }}>
        <Plot answer={answer} width={width} scale={scale} filtered={filter.value.length > 0} />
        {error && !answer && <div class="plot-error">{error.message}</div>}
        {width > 0 && run && (
          <div class="over" style={{ left: `${LEFT}px`, width: `${scale.width}px` }}>
            <Lane
              id="lane-allocated"
              class="main-lane"
              name="allocated"
              scale={scale}
              duration={duration}
              spans={allocated?.spans ?? []}
              movable={allocated?.range != null}
              say={say}
              onChange={(span, how) => choose("allocated", span, how)}
              onClear={() => clearKeys(["allocated"])}
            />
            {answer && <Readout answer={answer} scale={scale} filtered={filter.value.length > 0} />}
          </div>
        )}
      </div>
      <div class="second">
        {width > 0 && run && (
          <div class="over" style={{ left: `${LEFT}px`, width: `${scale.width}px` }}>
            <Lane
              id="lane-second"
              class={`second-lane ${secondKey}`}
              name={secondKey}
              scale={scale}
              duration={duration}
              spans={second?.spans ?? []}
              movable={second?.range != null}
              say={say}
              onChange={(span, how) => choose(secondKey, span, how)}
              onClear={() => clearKeys(SECOND_LANE)}
              {...(secondKey === "live" ? { onPoint: (time: number) => choose("live", { from: time, to: time }) } : {})}
            />
            {second?.never && <span class="never">never collected</span>}
            {!second && (
              <span class="lane-hint">
                {secondKey === "live" ? "click: live at that moment; drag: live in a stretch" : "drag: collected in a stretch"}
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

/** Puts the chip of a lane where it was, or at the end. */
function choose(key: LaneKey, span: Span, how: "push" | "replace" = "push"): void {
  const chip = chipOf(key, span);
  setChips(key === "allocated" ? ["allocated"] : SECOND_LANE, chip ? [chip] : [], how);
}

export function chooseTyped(key: LaneKey, range: Parameters<typeof rangeChip>[1]): void {
  const chip = rangeChip(key, range);
  setChips(key === "allocated" ? ["allocated"] : SECOND_LANE, chip ? [chip] : []);
}

interface PlotProps {
  answer: Answer<Overview> | null;
  width: number;
  scale: Scale;
  filtered: boolean;
}

/** The canvas. */
function Plot({ answer, width, scale, filtered }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const range = useRef<[number, number]>([0, 1]);
  range.current = [scale.from, scale.to];
  const wallStart = axis.value === "wall" ? (recording.value?.start_unix ?? null) : null;
  const curves = useMemo(() => (answer ? columns(answer) : null), [answer]);
  const data = useMemo(() => (curves ? stacked(curves, scale.from) : null), [curves, scale.from]);
  const [fontsReady, setFontsReady] = useState(false);
  useEffect(() => {
    document.fonts.ready.then(() => setFontsReady(true));
  }, []);
  const peak = answer?.total.peak ?? null;

  useLayoutEffect(() => {
    if (!place.current || !data || width === 0) return undefined;
    const size = { width, height: height.value };
    plot.current = makePlot(place.current, size, data, () => range.current, { filtered, wallStart, peak });
    return () => {
      plot.current?.destroy();
      plot.current = null;
    };
  }, [data !== null && width > 0, theme.value, filtered, wallStart, peak?.time, peak?.bytes, fontsReady]);
  useLayoutEffect(() => {
    if (data) plot.current?.setData(data);
  }, [data, scale.to]);
  useLayoutEffect(() => {
    if (width > 0) plot.current?.setSize({ width, height: height.value });
  }, [width, height.value]);
  return <div ref={place} class="canvas" aria-hidden="true" />;
}

function columns({ columns }: Answer<Overview>): Curves {
  const read = (name: string) => columns.numbers(name);
  return {
    time: read("time"),
    minor: read("minor"),
    major: read("major"),
    external: read("external"),
    most: read("most"),
    chosen: read("chosen"),
  };
}

/** Ctrl and the wheel zoom around the pointer, Shift and the wheel move. */
function useWheel(place: { current: HTMLDivElement | null }, scale: Scale, duration: number): void {
  const latest = useRef({ scale, duration });
  latest.current = { scale, duration };
  useEffect(() => {
    const node = place.current;
    if (!node) return undefined;
    const onWheel = (event: WheelEvent) => {
      const { scale, duration } = latest.current;
      if ((!event.ctrlKey && !event.metaKey && !event.shiftKey) || scale.width === 0) return;
      event.preventDefault();
      const delta = event.deltaY || event.deltaX;
      if (event.shiftKey) {
        const span = scale.to - scale.from;
        const from = Math.max(0, Math.min(duration - span, scale.from + (delta / scale.width) * span));
        zoomTo(from, from + span, "replace");
        return;
      }
      const x = event.clientX - node.getBoundingClientRect().left - LEFT;
      const center = scale.from + (Math.max(0, Math.min(scale.width, x)) / scale.width) * (scale.to - scale.from);
      const [from, to] = zoomed(scale, Math.exp(delta / 400), center, duration);
      zoomTo(from, to, "replace");
    };
    node.addEventListener("wheel", onWheel, { passive: false });
    return () => node.removeEventListener("wheel", onWheel);
  }, []);
}
