/** The layout of the graph of the heap over time: pure geometry. */
import type { EvolutionResponse, SnapshotRow } from "../../generated/responses.ts";

export type Axis = "gc" | "time";

/** Where each snapshot stands on the axis. Those between the same two collections share the room. */
export function positions(snapshots: readonly SnapshotRow[], axis: Axis): number[] {
  if (axis === "time") return snapshots.map(({ at }, index) => at ?? index);
  const alike = new Map<number, number>();
  const collections = snapshots.map(({ major }) => major ?? 0);
  for (const major of collections) alike.set(major, (alike.get(major) ?? 0) + 1);
  const passed = new Map<number, number>();
  return collections.map((major) => {
    const before = passed.get(major) ?? 0;
    passed.set(major, before + 1);
    return major + before / alike.get(major)!;
  });
}

export interface Scale {
  from: number;
  to: number;
  /** CSS pixels between them. */
  size: number;
}

export function place({ from, to, size }: Scale, value: number): number {
  return to > from ? ((value - from) / (to - from)) * size : size / 2;
}

/** The index of the position nearest to `x` pixels. */
export function nearest(scale: Scale, values: readonly number[], x: number): number {
  let best = -1;
  let distance = Infinity;
  values.forEach((value, index) => {
    const away = Math.abs(place(scale, value) - x);
    if (away < distance) [best, distance] = [index, away];
  });
  return best;
}

/** The same with off-heap memory in its sizes: a bigarray's few words in the heap say nothing of its size. */
export function withOffHeap(response: EvolutionResponse): EvolutionResponse {
  const sum = (sizes: readonly number[], more: readonly number[]): number[] =>
    sizes.map((size, index) => size + (more[index] ?? 0));
  return {
    ...response,
    total: sum(response.total, response.external),
    rest: sum(response.rest, response.rest_external),
    series: response.series.map((one) => ({ ...one, bytes: sum(one.bytes, one.external) })),
  };
}

/** One area of the stack: its lower and its upper edge at each snapshot that is analysed. */
export interface Area {
  lower: Float64Array;
  upper: Float64Array;
}

/** The series upon each other, heaviest at the bottom, the rest on top. */
export function stack({ snapshots, series, rest }: EvolutionResponse): Area[] {
  let lower = new Float64Array(snapshots.length);
  return [...series.map(({ bytes }) => bytes), rest].map((bytes) => {
    const upper = lower.map((below, index) => below + (bytes[index] ?? 0));
    const area = { lower, upper };
    lower = upper;
    return area;
  });
}

/** An area as an SVG path; `xs` and the edges in pixels. A single snapshot becomes a bar. */
export function outline(xs: readonly number[], area: Area, y: (bytes: number) => number): string {
  const round = (value: number): string => value.toFixed(1);
  const upper = xs.map((x, index) => `${round(x)},${round(y(area.upper[index]!))}`);
  const lower = xs.map((x, index) => `${round(x)},${round(y(area.lower[index]!))}`).reverse();
  if (xs.length === 0) return "";
  if (xs.length > 1) return `M${[...upper, ...lower].join("L")}Z`;
  const [left, right] = [round(xs[0]! - SINGLE), round(xs[0]! + SINGLE)];
  const [top, bottom] = [round(y(area.upper[0]!)), round(y(area.lower[0]!))];
  return `M${left},${top}L${right},${top}L${right},${bottom}L${left},${bottom}Z`;
}

/** Half the width of a bar. */
const SINGLE = 24;

/** Marks from 0 to `most`, about `wanted` of them, at multiples of a power of two. */
export function marksUpTo(most: number, wanted: number): number[] {
  const step = 2 ** Math.max(0, Math.ceil(Math.log2(most / wanted)));
  const marks: number[] = [];
  for (let mark = step; most > 0 && mark <= most; mark += step) marks.push(mark);
  return marks;
}
