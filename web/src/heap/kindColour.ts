/** Colours of kinds of blocks and of roots: the same one in every view. */
import { signal } from "@preact/signals";
import { moduleColour, palette, PAINTS } from "../flame/colour.ts";
import { theme } from "../shell/theme.ts";

/** What only sums up others. */
const REST = 1;
/** Roots, which are no blocks. */
const ROOT = 0;
/** Indices below are not for modules, nor for kinds. */
const FIRST = 6;
const STEP = 2;

/** Index into `palette` for a box of a picture. */
export function boxColour(what: "holder" | "group" | "block" | "rest", kind: string): number {
  if (what === "rest") return REST;
  return what === "holder" ? ROOT : kindColour(kind);
}

/** Distinct colours for what the curve shows; the views use the same. */
export const given = signal<ReadonlyMap<string, number>>(new Map());

export function kindColour(kind: string): number {
  return given.value.get(kind) ?? ownColour(kind);
}

function ownColour(kind: string): number {
  // A dot would make families, as of modules.
  return moduleColour(kind.replaceAll(".", "/"));
}

/** Colours for names that stand beside each other: each has its own as long as there are enough. */
export function distinct(names: readonly string[]): number[] {
  const taken = new Set<number>();
  return names.map((name) => {
    let colour = ownColour(name);
    for (let tries = 0; tries < PAINTS && taken.has(hueOf(colour)); tries++) {
      colour = FIRST + ((colour - FIRST + 5 * STEP) % (PAINTS - FIRST));
      if (tries >= (PAINTS - FIRST) / STEP) break;
    }
    taken.add(hueOf(colour));
    return colour;
  });
}

function hueOf(colour: number): number {
  return Math.floor((colour - FIRST) / STEP);
}

/** Fills by index, in the theme in use. */
export function fills(): string[] {
  return palette(theme.value).map(({ fill }) => fill);
}
