/** Conditions that are ranges of time, as the timeline shows and changes them. */
import { conditionOf } from "../filter/checks.ts";
import { microseconds, writeRange, writeValue } from "../filter/write.ts";
import type { RangeEnd, ValueForm } from "../generated/responses.ts";

export type LaneKey = "allocated" | "live" | "collected";

/** Seconds since the start; null is open. */
export interface Span {
  from: number | null;
  to: number | null;
}

/** The two ends of a range, as they are typed; "" is open. */
export interface Typed {
  from: string;
  to: string;
}

export interface Shown {
  key: LaneKey;
  spans: Span[];
  /** As the user wrote it: `40%..peak`. One condition of one range can be changed by dragging. */
  range: Typed | null;
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
    const condition = conditionOf(text);
    const key = keys.find((key) => key === condition?.key);
    if (!condition || !key || condition.not) continue;
    const ranges = condition.values.filter(({ mode }) => mode !== "never");
    const seconds = (moment: RangeEnd | null) => (moment === null ? null : secondsOf(moment, duration, peak));
    const [first] = ranges;
    return {
      key,
      spans: ranges.map(({ from, to }) => ({ from: seconds(from), to: seconds(to) })),
      range: first && condition.values.length === 1 ? typed(first) : null,
      never: ranges.length < condition.values.length,
    };
  }
  return null;
}

function secondsOf(moment: RangeEnd, duration: number, peak: number): number {
  if (moment === "peak") return peak;
  if (moment === "end") return duration;
  if (typeof moment !== "object") return 0;
  return "us" in moment ? moment.us / 1e6 : (moment.ppm / 1e6) * duration;
}

function typed({ mode, a, b }: ValueForm): Typed {
  if (mode === "to") return { from: "", to: a };
  return { from: a, to: mode === "at" ? a : b };
}

/** The condition for a span, or none if it is open at both sides. */
export function writeSpan(key: LaneKey, { from, to }: Span): string | null {
  if (from === null && to === null) return null;
  const us = (seconds: number | null) => (seconds === null ? null : microseconds(seconds));
  return writeRange(key, { from: us(from), to: us(to) });
}

/** The condition for typed ends, or none if both are open. */
export function typedRange(key: LaneKey, { from, to }: Typed): string | null {
  if (from === "" && to === "") return null;
  return `${key}:${from === to ? from : writeValue({ mode: "between", a: from, b: to })}`;
}
