/**
 * What a condition says: one condition on blocks, several values of which any will do. The engine has
 * the same types; `crates/profile/tests/conditions.json` holds both to one meaning.
 */

export type FrameKey = "in" | "module" | "file" | "by" | "byModule" | "byFile";
export type NameKey = FrameKey | "thread" | "process" | "hide" | "collapse";
export type TimeKey = "allocated" | "live" | "collected";
export type Key = TimeKey | NameKey | "lifetime" | "size" | "heap" | "died" | "domain";

/** In the order in which they are shown. */
export const KEYS: readonly Key[] = [
  "allocated",
  "live",
  "collected",
  "lifetime",
  "size",
  "heap",
  "died",
  "domain",
  "thread",
  "process",
  "in",
  "module",
  "file",
  "by",
  "byModule",
  "byFile",
  "hide",
  "collapse",
];

/** Whether a key changes call paths instead of choosing blocks: it has no opposite. */
export const transformsPaths = (key: Key): boolean => key === "hide" || key === "collapse";

/** A closed range, open to a side that is null. */
export interface Range<T> {
  from: T | null;
  to: T | null;
}

/** A moment of a recording: microseconds since its start, or millionths of its duration. */
export type Moment = "start" | "peak" | "end" | { us: number } | { ppm: number };

export type Heap = "minor" | "major" | "external";
export type Died = Heap | "never";

export type Name = { equals: string } | { contains: string } | { regex: string };

export type Condition = { not: boolean } & (
  | { key: "allocated" | "live"; values: Range<Moment>[] }
  | { key: "collected"; values: (Range<Moment> | "never")[] }
  /** Microseconds; bytes. */
  | { key: "lifetime" | "size"; values: Range<number>[] }
  | { key: "heap"; values: Heap[] }
  | { key: "died"; values: Died[] }
  | { key: "domain"; values: number[] }
  | { key: NameKey; values: Name[] }
);

/** What is wrong with the text of a condition. */
export class ConditionError extends Error {
  override name = "ConditionError";
  constructor(
    message: string,
    /** At which byte of the text, as UTF-8. */
    readonly at: number,
    readonly hint: string | null = null,
  ) {
    super(message);
  }
}

/** Only this. */
export function only<T>(value: T): Range<T> {
  return { from: value, to: value };
}

export function sameMoment(a: Moment | null, b: Moment | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Seconds since the start. */
export function at(seconds: number): Moment {
  return { us: Math.max(0, Math.round(seconds * 1e6)) };
}

/** Seconds since the start of a recording of that duration and peak. */
export function secondsOf(moment: Moment, duration: number, peak: number): number {
  if (moment === "start") return 0;
  if (moment === "peak") return peak;
  if (moment === "end") return duration;
  return "us" in moment ? moment.us / 1e6 : (moment.ppm / 1e6) * duration;
}
