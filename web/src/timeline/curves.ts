/** The stacked areas of live memory, drawn by uPlot. Brushes and lanes lie over it as elements. */
import uPlot from "uplot";
import { themeColor } from "../shell/theme.ts";
import { estimatedBytes as bytes } from "../state/estimates.ts";
import { elapsedMark, marks, sizeSteps, timeSteps, wallMark, zoneOffset } from "./axis.ts";

/** CSS pixels at the left of the plot, for the axis, and at its right. */
export const LEFT = 64;
export const RIGHT = 24;
const TOP = 14;
const AXIS = 24;

export interface Curves {
  /** Seconds; the others bytes. */
  time: ArrayLike<number>;
  minor: ArrayLike<number>;
  major: ArrayLike<number>;
  external: ArrayLike<number>;
  /** The most that was live at once in the stretch before each time. */
  most: ArrayLike<number>;
  /** What the filter leaves. */
  selected: ArrayLike<number>;
  /** Resident memory at a time, if it is to be drawn. */
  resident: ((time: number) => number | null) | null;
}

export interface Settings {
  filtered: boolean;
  /** Seconds since 1970 at time 0, for an axis of wall time. */
  wallStart: number | null;
  peak: { time: number; bytes: number } | null;
}

/** Columns for uPlot: time, then the sums from the top of the stack down, then the selected part. */
export function stacked(curves: Curves, from: number): uPlot.AlignedData {
  const { time, minor, major, external, most, selected, resident } = curves;
  // Times are ends of stretches: the curve begins where the first stretch does.
  const length = time.length;
  const lead = length > 0 && (time[0] ?? 0) > from ? 1 : 0;
  const column = (value: (index: number) => number) => {
    const filled = new Float64Array(length + lead);
    for (let index = 0; index < length; index += 1) filled[index + lead] = value(index);
    if (lead) filled[0] = from === 0 ? 0 : (filled[1] ?? 0);
    return filled;
  };
  const of = (values: ArrayLike<number>, index: number) => values[index] ?? 0;
  const times = column((index) => of(time, index));
  if (lead) times[0] = from;
  return [
    times,
    column((index) => of(most, index)),
    column((index) => of(major, index) + of(external, index) + of(minor, index)),
    column((index) => of(major, index) + of(external, index)),
    column((index) => of(major, index)),
    column((index) => of(selected, index)),
    Array.from(times, (at) => resident?.(at) ?? null),
  ];
}

/** Draws into `place`. To be made anew when theme or settings change; data and size can be set. */
export function makePlot(
  place: HTMLElement,
  size: { width: number; height: number },
  data: uPlot.AlignedData,
  range: () => [number, number],
  settings: Settings,
): uPlot {
  const { filtered, wallStart, peak } = settings;
  const area = (name: `--${string}`): uPlot.Series => ({
    fill: themeColor(filtered ? `${name}-pale` : name),
    width: 0,
    pxAlign: 0,
    points: { show: false },
  });
  const axis = {
    stroke: themeColor("--ink-3"),
    font: `11px ${getComputedStyle(document.body).fontFamily}`,
    ticks: { show: false },
    grid: { stroke: themeColor("--line"), width: 1 },
  };
  const origin = wallStart === null ? 0 : wallStart + zoneOffset(wallStart);
  const options: uPlot.Options = {
    ...size,
    padding: [TOP, RIGHT, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    select: { show: false, left: 0, top: 0, width: 0, height: 0 },
    scales: {
      x: { time: false, range },
      y: { range: (_, __, most) => [0, Math.max(most, peak?.bytes ?? 0, 1) * 1.04] },
    },
    axes: [
      {
        ...axis,
        size: AXIS,
        gap: 4,
        space: 80,
        incrs: [...timeSteps],
        splits: (_, __, from, to, every) => marks(from, to, every, origin),
        values: (_, times, __, ___, every) =>
          times.map((time) => (wallStart === null ? elapsedMark(time, every) : wallMark(wallStart + time, every))),
      },
      {
        ...axis,
        size: LEFT,
        gap: 6,
        space: 30,
        incrs: [...sizeSteps],
        values: (_, sizes) => sizes.map((size) => (size === 0 ? "0" : bytes(size).replace(/\.0+ /, " "))),
      },
    ],
    series: [
      {},
      { stroke: themeColor("--line-2"), width: 1, pxAlign: 0, points: { show: false } },
      area("--minor"),
      area("--external"),
      area("--major"),
      {
        show: filtered,
        stroke: themeColor("--selected"),
        fill: themeColor("--selected-area"),
        width: 1.5,
        pxAlign: 0,
        points: { show: false },
      },
      { stroke: themeColor("--ink-2"), width: 1.5, pxAlign: 0, points: { show: false } },
    ],
    hooks: { draw: [(plot) => peak && markPeak(plot, peak)] },
  };
  return new uPlot(options, data, place);
}

/** A dot where most was live. */
function markPeak(plot: uPlot, peak: { time: number; bytes: number }): void {
  const [from, to] = [plot.scales.x?.min ?? 0, plot.scales.x?.max ?? 0];
  if (peak.bytes <= 0 || peak.time < from || peak.time > to) return;
  const { ctx } = plot;
  const x = plot.valToPos(peak.time, "x", true);
  const y = plot.valToPos(peak.bytes, "y", true);
  const unit = devicePixelRatio;
  ctx.save();
  ctx.fillStyle = themeColor("--ink");
  ctx.strokeStyle = themeColor("--panel");
  ctx.lineWidth = 1.5 * unit;
  ctx.beginPath();
  ctx.arc(x, y, 3.5 * unit, 0, 2 * Math.PI);
  ctx.fill();
  ctx.stroke();
  ctx.font = `${11 * unit}px ${getComputedStyle(document.body).fontFamily}`;
  const text = `peak ${bytes(peak.bytes)}`;
  const width = ctx.measureText(text).width;
  const right = plot.bbox.left + plot.bbox.width;
  const left = x + width + 10 * unit < right ? x + 8 * unit : x - width - 8 * unit;
  ctx.lineWidth = 3 * unit;
  ctx.lineJoin = "round";
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.strokeText(text, left, Math.max(y, 7 * unit));
  ctx.fillText(text, left, Math.max(y, 7 * unit));
  ctx.restore();
}
