/**
 * Where things are on the lifetimes plot, in CSS pixels: allocation time from left to right, lifetime
 * upwards on a logarithmic scale, and a strip on top for what was never collected.
 */

export interface Bins {
  /** Edges in seconds, ascending; lifetimes are logarithmic and begin above 0. */
  readonly times: readonly number[];
  readonly lifetimes: readonly number[];
}

/** A bin: its position among allocation times, and among lifetimes, or in the strip. */
export interface Cell {
  readonly time: number;
  readonly lifetime: number | "never";
}

/** A rectangle of bins; both ends are in it. */
export interface Selected {
  readonly from: Cell;
  readonly to: Cell;
}

export interface Frame {
  readonly width: number;
  readonly height: number;
  /** Room for axes. */
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Height of the strip of what was never collected, and the gap below it. */
export const STRIP = 22;
export const STRIP_GAP = 6;

export const columns = (bins: Bins): number => Math.max(1, bins.times.length - 1);
export const levels = (bins: Bins): number => Math.max(1, bins.lifetimes.length - 1);

/** Upper and lower edge of the part that is logarithmic. */
function span(frame: Frame): { top: number; bottom: number } {
  return { top: frame.top + STRIP + STRIP_GAP, bottom: frame.height - frame.bottom };
}

/** Left edge of time bin `time`. */
export function xOf(frame: Frame, bins: Bins, time: number): number {
  return frame.left + (time / columns(bins)) * (frame.width - frame.left - frame.right);
}

/** Lower edge of lifetime bin `lifetime`. */
export function yOf(frame: Frame, bins: Bins, lifetime: number): number {
  const { top, bottom } = span(frame);
  return bottom - (lifetime / levels(bins)) * (bottom - top);
}

/** The bin under a point; outside of the plot the nearest. */
export function cellAt(frame: Frame, bins: Bins, x: number, y: number): Cell {
  const inside = (value: number, count: number): number => Math.min(count - 1, Math.max(0, Math.floor(value)));
  const time = ((x - frame.left) / (frame.width - frame.left - frame.right)) * columns(bins);
  const { top, bottom } = span(frame);
  if (y < top - STRIP_GAP / 2) return { time: inside(time, columns(bins)), lifetime: "never" };
  const lifetime = ((bottom - y) / (bottom - top)) * levels(bins);
  return { time: inside(time, columns(bins)), lifetime: inside(lifetime, levels(bins)) };
}

/** A rectangle of bins on the screen. A selection stays in the strip or out of it, as it began. */
export function outlineOf(frame: Frame, bins: Bins, { from, to }: Selected) {
  const left = xOf(frame, bins, Math.min(from.time, to.time));
  const right = xOf(frame, bins, Math.max(from.time, to.time) + 1);
  if (from.lifetime === "never") return { left, right, top: frame.top, bottom: frame.top + STRIP };
  const other = to.lifetime === "never" ? levels(bins) - 1 : to.lifetime;
  return {
    left,
    right,
    top: yOf(frame, bins, Math.max(from.lifetime, other) + 1),
    bottom: yOf(frame, bins, Math.min(from.lifetime, other)),
  };
}

/** Stretches of a selection, in seconds; no lifetime for what was never collected. */
export interface Stretches {
  readonly allocated: readonly [number, number];
  readonly lifetime: readonly [number, number] | null;
}

export function stretchesOf(bins: Bins, { from, to }: Selected): Stretches {
  const allocated = [bins.times[Math.min(from.time, to.time)]!, bins.times[Math.max(from.time, to.time) + 1]!] as const;
  if (from.lifetime === "never") return { allocated, lifetime: null };
  const other = to.lifetime === "never" ? levels(bins) - 1 : to.lifetime;
  return {
    allocated,
    lifetime: [bins.lifetimes[Math.min(from.lifetime, other)]!, bins.lifetimes[Math.max(from.lifetime, other) + 1]!],
  };
}

/**
 * Positions of the decades among lifetime bins: 1 µs, 10 µs, … 1,000 s, with a bin's fraction. The
 * first bin may begin at 0; from its end on, bins are logarithmic.
 */
export function decades({ lifetimes }: Bins): { lifetime: number; at: number }[] {
  const base = lifetimes[0]! > 0 ? 0 : 1;
  const [first, last] = [lifetimes[base], lifetimes.at(-1)];
  if (first === undefined || last === undefined || !(last > first)) return [];
  const out: { lifetime: number; at: number }[] = [];
  const perDecade = (lifetimes.length - 1 - base) / Math.log10(last / first);
  for (let power = Math.ceil(Math.log10(first) - 1e-9); 10 ** power <= last * (1 + 1e-9); power++) {
    const lifetime = Number(`1e${power}`);
    out.push({ lifetime, at: base + Math.log10(lifetime / first) * perDecade });
  }
  return out;
}
