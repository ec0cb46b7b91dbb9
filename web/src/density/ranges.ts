/** A stretch of the plot as conditions, and back. */
import { conditionOf } from "../filter/checks.ts";
import { microseconds, writeRange } from "../filter/write.ts";
import type { RangeEnd } from "../generated/responses.ts";
import { columns, type Bins, type Stretches } from "./plot.ts";

/** Conditions that the plot sets; what it shows is asked for without them. */
const KEYS = ["allocated", "lifetime"] as const;

export function conditionsOf(bins: Bins, { allocated, lifetime }: Stretches): string[] {
  const conditions: string[] = [];
  const [start, end] = [bins.times[0]!, bins.times.at(-1)!];
  if (allocated[0] > start || allocated[1] < end) {
    // No finer than a tenth of a bin: 20.25 s, and not 20.253906 s.
    const grain = 10 ** Math.floor(Math.log10((end - start) / columns(bins)) - 1);
    const from = microseconds(floor(allocated[0], grain));
    conditions.push(writeRange("allocated", { from, to: microseconds(ceiling(allocated[1], grain)) }));
  }
  if (lifetime === null) {
    conditions.push("collected:never");
  } else {
    const [shortest, longest] = [bins.lifetimes[0]!, bins.lifetimes.at(-1)!];
    const from = lifetime[0] > shortest ? inDigits(lifetime[0] * 1e6, floor) : null;
    const to = lifetime[1] < longest ? inDigits(lifetime[1] * 1e6, ceiling) : null;
    if (from !== null || to !== null) conditions.push(writeRange("lifetime", { from, to }));
  }
  return conditions;
}

type Rounding = (value: number, grain: number) => number;
// Edges that already are round have an error in their last digit.
const floor: Rounding = (value, grain) => Math.floor(value / grain + 1e-6) * grain;
const ceiling: Rounding = (value, grain) => Math.ceil(value / grain - 1e-6) * grain;

/** Whole microseconds, of which three digits are shown. */
function inDigits(us: number, round: Rounding): number {
  return Math.round(round(us, Math.max(1, 10 ** Math.floor(Math.log10(Math.max(1, us)) - 2))));
}

/** What a filter says about the plot's axes, in seconds, where it says it in one stretch each. */
export interface SelectedRanges {
  readonly allocated: readonly [number | null, number | null] | null;
  readonly lifetime: readonly [number | null, number | null] | null;
  /** The filter without that. */
  readonly rest: readonly string[];
}

export function selectedRanges(filter: readonly string[]): SelectedRanges {
  let allocated: SelectedRanges["allocated"] = null;
  let lifetime: SelectedRanges["lifetime"] = null;
  const rest: string[] = [];
  for (const text of filter) {
    const stretch = stretchOf(text);
    if (stretch?.key === "allocated" && !allocated) allocated = stretch.range;
    else if (stretch?.key === "lifetime" && !lifetime) lifetime = stretch.range;
    else rest.push(text);
  }
  return { allocated, lifetime, rest };
}

function stretchOf(text: string): { key: (typeof KEYS)[number]; range: [number | null, number | null] } | null {
  const condition = conditionOf(text);
  if (!condition || condition.not || condition.values.length !== 1) return null;
  const key = KEYS.find((key) => key === condition.key);
  const { from, to } = condition.values[0]!;
  const ends = [seconds(from), seconds(to)] as const;
  return !key || ends[0] === undefined || ends[1] === undefined ? null : { key, range: [ends[0], ends[1]] };
}

/** Seconds; nothing for a moment that depends on the recording. */
function seconds(moment: RangeEnd | null): number | null | undefined {
  if (moment === null) return null;
  if (typeof moment === "number") return moment / 1e6;
  return typeof moment === "object" && "us" in moment ? moment.us / 1e6 : undefined;
}
