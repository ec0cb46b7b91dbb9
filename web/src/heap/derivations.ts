/** How the type of blocks, or the lines of a closure's function, are known. */
import type { HistogramRow } from "../generated/responses.ts";

const OF_LINES: Readonly<Record<string, string>> = {
  cmt: "line from the .cmt file",
  start: "line from debug information",
  "first call": "first line that calls or allocates",
  neighbours: "between its neighbours’ lines",
  class: "lines of its class",
  unit: "file of its module",
};

const OF_TYPES: Readonly<Record<string, string>> = {
  variable: "type from a variable",
  closure: "type through a closure",
  contents: "type by contents",
};

/** The same in a few words; empty if there is nothing to say. */
export function howKnown({ derivation, function: place }: Pick<HistogramRow, "derivation" | "function">): string {
  if (place) return OF_LINES[place.derivation] ?? "";
  return (derivation !== null && OF_TYPES[derivation]) || "";
}
