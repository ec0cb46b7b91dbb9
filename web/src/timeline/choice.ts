/** Chips that are ranges of time, as the timeline shows and changes them. */
import { ChipError, at, secondsOf, type Moment, type Range } from "../filter/chip.ts";
import { tryChip } from "../filter/parse.ts";
import { printChip, printMoments } from "../filter/print.ts";

export type LaneKey = "allocated" | "live" | "collected";

/** Seconds since the start; null is open. */
export interface Span {
  from: number | null;
  to: number | null;
}

export interface Shown {
  key: LaneKey;
  spans: Span[];
  /** As the user wrote it: `40%..peak`. One chip of one range can be changed by dragging. */
  range: Range<Moment> | null;
  /** `collected:never`. */
  never: boolean;
}

/** What a lane shows: the first chip of one of `keys` that is not negated. */
export function shown(chips: readonly string[], keys: readonly LaneKey[], duration: number, peak: number): Shown | null {
  for (const text of chips) {
    const chip = tryChip(text);
    if (chip instanceof ChipError || chip.not) continue;
    if (chip.key !== "allocated" && chip.key !== "live" && chip.key !== "collected") continue;
    if (!keys.includes(chip.key)) continue;
    const values: (Range<Moment> | "never")[] = chip.values;
    const ranges = values.filter((value) => value !== "never");
    const seconds = (moment: Moment | null) => (moment === null ? null : secondsOf(moment, duration, peak));
    const [first] = ranges;
    return {
      key: chip.key,
      spans: ranges.map(({ from, to }) => ({ from: seconds(from), to: seconds(to) })),
      range: first && values.length === 1 ? first : null,
      never: ranges.length < chip.values.length,
    };
  }
  return null;
}

/** The chip for a span, or none if it is open at both sides. */
export function chipOf(key: LaneKey, { from, to }: Span): string | null {
  const moment = (seconds: number | null) => (seconds === null ? null : at(seconds));
  return rangeChip(key, { from: moment(from), to: moment(to) });
}

export function rangeChip(key: LaneKey, range: Range<Moment>): string | null {
  if (range.from === null && range.to === null) return null;
  return printChip({ key, not: false, values: [range] });
}

/** The two ends of a chip's range, as they are typed. */
export function typed(range: Range<Moment> | null): [from: string, to: string] {
  if (!range) return ["", ""];
  const end = (moment: Moment | null) => (moment === null ? "" : printMoments({ from: moment, to: moment }));
  return [end(range.from), end(range.to)];
}
