/** A stretch of the plot as chips, and back. */
import { at as moment, type Moment } from "../filter/chip.ts";
import { tryChip } from "../filter/parse.ts";
import { printChip } from "../filter/print.ts";
import { columns, type Bins, type Stretches } from "./plot.ts";

/** Chips that the plot sets; what it shows is asked for without them. */
const KEYS = ["allocated", "lifetime"] as const;

export function chipsOf(bins: Bins, { allocated, lifetime }: Stretches): string[] {
  const chips: string[] = [];
  const [start, end] = [bins.times[0]!, bins.times.at(-1)!];
  if (allocated[0] > start || allocated[1] < end) {
    // No finer than a tenth of a bin: 20.25 s, and not 20.253906 s.
    const grain = 10 ** Math.floor(Math.log10((end - start) / columns(bins)) - 1);
    const [from, to] = [floor(allocated[0], grain), ceiling(allocated[1], grain)].map(moment);
    const range = { from: from!, to: to! };
    chips.push(printChip({ key: "allocated", not: false, values: [range] }));
  }
  if (lifetime === null) {
    chips.push("collected:never");
  } else {
    const [shortest, longest] = [bins.lifetimes[0]!, bins.lifetimes.at(-1)!];
    const from = lifetime[0] > shortest ? inDigits(lifetime[0] * 1e6, floor) : null;
    const to = lifetime[1] < longest ? inDigits(lifetime[1] * 1e6, ceiling) : null;
    if (from !== null || to !== null) {
      chips.push(printChip({ key: "lifetime", not: false, values: [{ from, to }] }));
    }
  }
  return chips;
}

type Rounding = (value: number, grain: number) => number;
// Edges that already are round have an error in their last digit.
const floor: Rounding = (value, grain) => Math.floor(value / grain + 1e-6) * grain;
const ceiling: Rounding = (value, grain) => Math.ceil(value / grain - 1e-6) * grain;

/** Whole microseconds, of which three digits are told. */
function inDigits(us: number, round: Rounding): number {
  return Math.round(round(us, Math.max(1, 10 ** Math.floor(Math.log10(Math.max(1, us)) - 2))));
}

/** What a filter says about the plot's axes, in seconds, where it says it in one stretch each. */
export interface Chosen {
  readonly allocated: readonly [number | null, number | null] | null;
  readonly lifetime: readonly [number | null, number | null] | null;
  /** The filter without that. */
  readonly rest: readonly string[];
}

export function chosen(filter: readonly string[]): Chosen {
  let allocated: Chosen["allocated"] = null;
  let lifetime: Chosen["lifetime"] = null;
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
  const chip = tryChip(text);
  if (chip instanceof Error || chip.not || chip.values.length !== 1) return null;
  if (chip.key === "lifetime") {
    const { from, to } = chip.values[0]!;
    return { key: "lifetime", range: [from === null ? null : from / 1e6, to === null ? null : to / 1e6] };
  }
  if (chip.key !== "allocated") return null;
  const { from, to } = chip.values[0]!;
  const ends = [seconds(from), seconds(to)] as const;
  return ends[0] === undefined || ends[1] === undefined ? null : { key: "allocated", range: [ends[0], ends[1]] };
}

/** Seconds; nothing for a moment that depends on the recording. */
function seconds(moment: Moment | null): number | null | undefined {
  if (moment === null) return null;
  return typeof moment === "object" && "us" in moment ? moment.us / 1e6 : undefined;
}
