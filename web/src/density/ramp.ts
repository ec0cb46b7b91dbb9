/** Colours of the lifetimes plot: from hardly anything to most, by the logarithm of bytes. */
import { hex, oklch, type Theme } from "../flame/colour.ts";

const STEPS = 48;
/** Bins with less than this share of the heaviest look empty of weight. */
const FAINTEST = 1e-4;

/** Light grounds get darker, dark grounds lighter; hue goes along, for those who see little of it. */
export function ramp(theme: Theme): string[] {
  return Array.from({ length: STEPS }, (_, at) => {
    const share = at / (STEPS - 1);
    const hue = 205 + 95 * share;
    return theme === "light"
      ? hex(oklch(0.93 - 0.6 * share, 0.03 + 0.13 * Math.sin(Math.PI * Math.min(1, share * 0.75)), hue))
      : hex(oklch(0.3 + 0.6 * share, 0.05 + 0.09 * Math.sin(Math.PI * Math.min(1, share * 0.9)), 290 - 110 * share));
  });
}

/** The step of a bin among `STEPS`, or -1 for an empty one. */
export function stepOf(bytes: number, heaviest: number): number {
  if (!(bytes > 0) || !(heaviest > 0)) return -1;
  const share = 1 - Math.log(Math.max(FAINTEST, bytes / heaviest)) / Math.log(FAINTEST);
  return Math.min(STEPS - 1, Math.max(0, Math.round(share * (STEPS - 1))));
}
