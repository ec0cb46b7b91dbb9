/** The two sides of a comparison: what the page shows now, and what it is held against. */
import { about } from "../state/about.ts";
import { markOfAny } from "../state/estimates.ts";
import { filter, param, rec, withParam } from "../state/page.ts";
import { FIRST_STATE, parseHash, printHash } from "../state/url.ts";

/** One side: a recording, and a filter on it. */
export interface Side {
  readonly rec: number;
  readonly filter: readonly string[];
}

/** In the URL: the other side, as a hash within the hash. */
const other = param("b", "");

/** What was selected to hold everything against; it stays while the filter and the recording change. */
export function selectedBaseline(): Side | null {
  return other.value ? sideOf(other.value) : null;
}

/** The page's parameters with a baseline in them, or without one. */
export function withBaseline(
  more: Readonly<Record<string, string>>,
  side: Side | null,
): Readonly<Record<string, string>> {
  return withParam(more, "b", side ? textOf(side) : "");
}

/** The same, with the baseline of another recording: the filter on it stays. */
export function holdAgainst(more: Readonly<Record<string, string>>, rec: number): Readonly<Record<string, string>> {
  return withBaseline(more, { rec, filter: selectedBaseline()?.filter ?? filter.value });
}

/** What the present side is held against, or null before anything was selected. */
export function baseline(recordings: number): Side | null {
  const selected = selectedBaseline();
  if (selected) return selected;
  const begin = firstSides(rec.value, recordings);
  return begin && { rec: begin.before, filter: filter.value };
}

/**
 * With several recordings, what to begin with when one is shown and nothing was selected: the first is
 * before, in the order they were named.
 */
export function firstSides(shown: number, recordings: number): { before: number; after: number } | null {
  return recordings < 2 ? null : { before: 0, after: Math.max(shown, 1) };
}

/** The recording to show in place of this one, if nothing was selected yet. */
export function shownInstead(recordings: number): number | null {
  const begin = other.value ? null : firstSides(rec.value, recordings);
  return begin && begin.after !== rec.value ? begin.after : null;
}

export function present(): Side {
  return { rec: rec.value, filter: filter.value };
}

/** What stands before estimates that one of the sides is known to make too low. */
export function markOfSides(): string {
  const before = baseline(about.value?.recordings.length ?? 0);
  return markOfAny([rec.value, before?.rec ?? rec.value]);
}

export function textOf(side: Side): string {
  return printHash({ ...FIRST_STATE, rec: side.rec, filter: side.filter }) || "rec=0";
}

export function sideOf(text: string): Side {
  const state = parseHash(text);
  return { rec: state.rec, filter: state.filter };
}

export const sameSide = (a: Side, b: Side): boolean => textOf(a) === textOf(b);
