/** Conditions that are ranges of time, as the timeline shows and changes them. */
import { ConditionError, at, secondsOf, type Moment, type Range } from "../filter/condition.ts";
import { tryCondition } from "../filter/parse.ts";
import { printCondition, printMoments } from "../filter/print.ts";

export type LaneKey = "allocated" | "live" | "collected";

/** Seconds since the start; null is open. */
export interface Span {
  from: number | null;
  to: number | null;
}

export interface Shown {
  key: LaneKey;
  spans: Span[];
  /** As the user wrote it: `40%..peak`. One condition of one range can be changed by dragging. */
  range: Range<Moment> | null;
  /** `collected:never`. */
  never: boolean;
}

/** What a lane shows: the first condition of one of `keys` that is not negated. */
export function shown(
  conditions: readonly string[],
  keys: readonly LaneKey[],
  duration: number,
  peak: number,
): Shown | null {
  for (const text of conditions) {
    const condition = tryCondition(text);
    if (condition instanceof ConditionError || condition.not) continue;
    if (condition.key !== "allocated" && condition.key !== "live" && condition.key !== "collected") continue;
    if (!keys.includes(condition.key)) continue;
    const values: (Range<Moment> | "never")[] = condition.values;
    const ranges = values.filter((value) => value !== "never");
    const seconds = (moment: Moment | null) => (moment === null ? null : secondsOf(moment, duration, peak));
    const [first] = ranges;
    return {
      key: condition.key,
      spans: ranges.map(({ from, to }) => ({ from: seconds(from), to: seconds(to) })),
      range: first && values.length === 1 ? first : null,
      never: ranges.length < condition.values.length,
    };
  }
  return null;
}

/** The condition for a span, or none if it is open at both sides. */
export function conditionOf(key: LaneKey, { from, to }: Span): string | null {
  const moment = (seconds: number | null) => (seconds === null ? null : at(seconds));
  return rangeCondition(key, { from: moment(from), to: moment(to) });
}

export function rangeCondition(key: LaneKey, range: Range<Moment>): string | null {
  if (range.from === null && range.to === null) return null;
  return printCondition({ key, not: false, values: [range] });
}

/** The two ends of a condition's range, as they are typed. */
export function typed(range: Range<Moment> | null): [from: string, to: string] {
  if (!range) return ["", ""];
  const end = (moment: Moment | null) => (moment === null ? "" : printMoments({ from: moment, to: moment }));
  return [end(range.from), end(range.to)];
}
