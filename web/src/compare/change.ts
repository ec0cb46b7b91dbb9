/** How one figure differs from another: in words, and in colours that do not depend on red and green. */
import type { Paint, Theme } from "../flame/colour.ts";
import type { ChangeStatus } from "../generated/responses.ts";
import { bytes, percent } from "../text/units.ts";

/** What makes the sides comparable: figures are bytes, bytes a second, or shares of what was allocated. */
export type Scale = "none" | "duration" | "allocated";

/** Shades on each side of "same". */
const SHADES = 4;
const SAME = 0;
const GROWN = 1;
const SHRUNK = GROWN + SHADES;
const NEW = SHRUNK + SHADES;
const GONE = NEW + 1;
export const FOCUS_PAINT = GONE + 1;

/** The paint of a box. */
export function paintOf(status: ChangeStatus, before: number, after: number): number {
  if (status === "new") return NEW;
  if (status === "gone") return GONE;
  if (status === "same") return SAME;
  // Twice as much, or half of it, is half way to the strongest shade.
  const share = Math.abs(after - before) / Math.max(before, after, Number.MIN_VALUE);
  const shade = Math.min(SHADES - 1, Math.floor(share * SHADES));
  return (status === "grown" ? GROWN : SHRUNK) + shade;
}

/** Orange has grown and blue has shrunk; what is new or gone has a mark at its edge, too. */
export function changePaints(theme: Theme): Paint[] {
  const light = theme === "light";
  const dark = "#1b1d22";
  const white = "#ffffff";
  const grown = light ? ["#fde3cf", "#f9c096", "#f09a5b", "#e0762c"] : ["#4a3527", "#6e4626", "#96581f", "#cf721c"];
  const shrunk = light ? ["#dbe8f7", "#aecbec", "#7eabdd", "#5088c8"] : ["#26364a", "#274a70", "#26609a", "#1f6fbd"];
  const text = light ? dark : white;
  const plain = (fill: string): Paint => ({ fill, text });
  return [
    { fill: light ? "#e6e7ea" : "#383b42", text },
    ...grown.slice(0, 3).map(plain),
    { fill: grown[3]!, text: dark },
    ...shrunk.slice(0, 3).map(plain),
    { fill: shrunk[3]!, text: light ? dark : white },
    { fill: light ? "#e0762c" : "#e8873a", text: dark, edge: light ? "#7a2f00" : "#ffe2c8" },
    { fill: light ? "#5088c8" : "#2a77c6", text: light ? dark : white, edge: light ? "#0c2f66" : "#d6e8ff" },
    { fill: light ? "#ffd24a" : "#e0b020", text: dark },
  ];
}

/** `1.2 MiB`, `1.2 MiB/s`, `3.4 %`; `mark` stands before what is estimated too low. */
export function amount(value: number, scale: Scale, mark = ""): string {
  if (scale === "allocated") return percent(value);
  return scale === "duration" ? `${mark}${bytes(value)}/s` : mark + bytes(value);
}

/** `+1.2 MiB`, `−300 KiB`, `±0`. */
export function signed(difference: number, scale: Scale): string {
  if (difference === 0) return "±0";
  return `${difference > 0 ? "+" : "−"}${amount(Math.abs(difference), scale)}`;
}

/** `new`, `gone`, `+35 %`, `−12 %`, `same`, and `uncertain` for what sampling alone may explain. */
export function changeText(status: ChangeStatus, before: number, after: number): string {
  if (status === "same") return before === after ? "same" : "uncertain";
  if (status === "new" || status === "gone") return status;
  if (before <= 0) return "new";
  const share = after / before - 1;
  if (share >= 9) return `${(after / before).toFixed(0)} times`;
  return `${share < 0 ? "−" : "+"}${percent(Math.abs(share))}`;
}
