/** Draws the lifetimes plot: bins, axes, and what is selected. */
import { themeColor } from "../shell/theme.ts";
import { elapsedMark, marks, timeSteps } from "../timeline/axis.ts";
import type { SelectedRanges } from "./ranges.ts";
import {
  columns,
  decades,
  levels,
  outlineOf,
  STRIP,
  xOf,
  yOf,
  type Bins,
  type Cell,
  type Frame,
  type Selected,
} from "./plot.ts";
import { extentOf, stepOf } from "./ramp.ts";

export interface Density {
  readonly bins: Bins;
  /** Bytes by time, then lifetime. */
  readonly bytes: Float32Array;
  /** Bytes never collected, by time. */
  readonly never: Float32Array;
}

const FONT = '11px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';

export function drawPlot(
  context: CanvasRenderingContext2D | null,
  frame: Frame,
  { bins, bytes, never }: Density,
  colours: readonly string[],
): void {
  if (!context) return;
  context.clearRect(0, 0, frame.width, frame.height);
  const extent = extentOf(bytes, never);
  const [right, high] = [frame.width - frame.right, levels(bins)];
  context.fillStyle = themeColor("--sunken");
  context.fillRect(frame.left, frame.top, right - frame.left, STRIP);
  context.fillRect(
    frame.left,
    yOf(frame, bins, high),
    right - frame.left,
    yOf(frame, bins, 0) - yOf(frame, bins, high),
  );
  drawGrid(context, frame, bins);
  for (let time = 0; time < columns(bins); time++) {
    const left = Math.round(xOf(frame, bins, time));
    const width = Math.round(xOf(frame, bins, time + 1)) - left;
    const step = stepOf(never[time] ?? 0, extent);
    if (step >= 0) {
      context.fillStyle = colours[step]!;
      context.fillRect(left, frame.top, width, STRIP);
    }
    for (let lifetime = 0; lifetime < high; lifetime++) {
      const step = stepOf(bytes[time * high + lifetime] ?? 0, extent);
      if (step < 0) continue;
      const top = Math.round(yOf(frame, bins, lifetime + 1));
      context.fillStyle = colours[step]!;
      context.fillRect(left, top, width, Math.round(yOf(frame, bins, lifetime)) - top);
    }
  }
}

function drawGrid(context: CanvasRenderingContext2D, frame: Frame, bins: Bins): void {
  context.font = FONT;
  context.fillStyle = themeColor("--ink-2");
  context.strokeStyle = themeColor("--line");
  context.lineWidth = 1;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillText("never", frame.left - 8, frame.top + STRIP / 2);
  const right = frame.width - frame.right;
  context.beginPath();
  let above = Infinity;
  for (const { lifetime, at } of decades(bins)) {
    const y = Math.round(yOf(frame, bins, at)) + 0.5;
    context.moveTo(frame.left, y);
    context.lineTo(right, y);
    if (above - y < 14) continue;
    context.fillText(decadeText(lifetime), frame.left - 8, y);
    above = y;
  }
  context.textAlign = "center";
  context.textBaseline = "top";
  const duration = (bins.times.at(-1) ?? 0) - (bins.times[0] ?? 0);
  const room = (duration / (right - frame.left)) * 80;
  const every = timeSteps.find((step) => step >= room) ?? duration;
  for (const time of duration > 0 ? marks(0, duration, every, 0) : []) {
    const x = Math.round(xOf(frame, bins, (time / duration) * columns(bins))) + 0.5;
    context.moveTo(x, frame.top);
    context.lineTo(x, frame.height - frame.bottom);
    context.fillText(elapsedMark(time, every), Math.min(x, frame.width - 18), frame.height - frame.bottom + 6);
  }
  context.stroke();
}

/** `1 µs`, `10 ms`, `100 s`: decades have no digits after the point. */
function decadeText(lifetime: number): string {
  if (lifetime < 0.999e-3) return `${Math.round(lifetime * 1e6)} µs`;
  return lifetime < 0.999 ? `${Math.round(lifetime * 1e3)} ms` : `${Math.round(lifetime)} s`;
}

interface Marks {
  here: SelectedRanges;
  selected: Selected | null;
  hover: Cell | null;
}

/** What the filter has of the plot, what is being selected, and the bin under the mouse. */
export function drawSelectedRanges(context: CanvasRenderingContext2D, frame: Frame, bins: Bins, marks: Marks): void {
  context.clearRect(0, 0, frame.width, frame.height);
  const { here, selected, hover } = marks;
  if (!selected && (here.allocated || here.lifetime)) drawHere(context, frame, bins, here);
  context.lineWidth = 1.5;
  if (selected) {
    const { left, right, top, bottom } = outlineOf(frame, bins, selected);
    context.fillStyle = themeColor("--select");
    context.fillRect(left, top, right - left, bottom - top);
    context.strokeStyle = themeColor("--brush");
    context.strokeRect(left, top, right - left, bottom - top);
  } else if (hover) {
    const { left, right, top, bottom } = outlineOf(frame, bins, { from: hover, to: hover });
    context.strokeStyle = themeColor("--ink");
    context.strokeRect(left - 1, top - 1, right - left + 2, bottom - top + 2);
  }
}

/** A frame around what the filter keeps, and a veil over the rest. */
function drawHere(context: CanvasRenderingContext2D, frame: Frame, bins: Bins, here: SelectedRanges): void {
  const [start, end] = [bins.times[0]!, bins.times.at(-1)!];
  const x = (time: number | null, otherwise: number): number =>
    xOf(frame, bins, (((time ?? otherwise) - start) / (end - start)) * columns(bins));
  const left = x(here.allocated?.[0] ?? null, start);
  const right = Math.min(frame.width - frame.right, x(here.allocated?.[1] ?? null, end));
  const [low, high] = here.lifetime ?? [null, null];
  const bottom = yOf(frame, bins, low === null ? 0 : binOf(bins, low));
  const top = high === null ? frame.top : yOf(frame, bins, binOf(bins, high));
  context.fillStyle = themeColor("--panel");
  context.globalAlpha = 0.6;
  context.beginPath();
  context.rect(frame.left, frame.top, frame.width - frame.left - frame.right, frame.height - frame.top - frame.bottom);
  context.rect(left, top, right - left, bottom - top);
  context.fill("evenodd");
  context.globalAlpha = 1;
  context.strokeStyle = themeColor("--brush");
  context.lineWidth = 1.5;
  context.strokeRect(left, top, right - left, bottom - top);
}

/** Among the bins, with a fraction, where a lifetime stands. */
function binOf({ lifetimes }: Bins, lifetime: number): number {
  const above = lifetimes.findIndex((edge) => edge > lifetime);
  if (above <= 0) return above < 0 ? lifetimes.length - 1 : 0;
  const [low, high] = [lifetimes[above - 1]!, lifetimes[above]!];
  const fraction = low > 0 ? Math.log(lifetime / low) / Math.log(high / low) : lifetime / high;
  return above - 1 + fraction;
}
