/** The two sides of a comparison: what the page shows now, and what it is held against. */
import { filter, param, rec } from "../state/page.ts";
import { FIRST_STATE, parseHash, printHash } from "../state/url.ts";

/** One side: a recording, and a filter on it. */
export interface Side {
  readonly rec: number;
  readonly filter: readonly string[];
}

/** In the URL: the other side, as a hash within the hash. */
const other = param("b", "");

/** What the present side is held against, or null before anything was chosen. */
export function baseline(recordings: number): Side | null {
  if (other.value) return sideOf(other.value);
  // With several recordings there is something to begin with: the first that is not shown.
  if (recordings < 2) return null;
  return { rec: rec.value === 0 ? 1 : 0, filter: filter.value };
}

export function present(): Side {
  return { rec: rec.value, filter: filter.value };
}

export function textOf(side: Side): string {
  return printHash({ ...FIRST_STATE, rec: side.rec, filter: side.filter }) || "rec=0";
}

export function sideOf(text: string): Side {
  const state = parseHash(text);
  return { rec: state.rec, filter: state.filter };
}

export const sameSide = (a: Side, b: Side): boolean => textOf(a) === textOf(b);
