/** Colours of the lifetimes plot: from hardly anything to most, by the logarithm of bytes. */
import { hex, oklch, type Theme } from "../flame/colour.ts";

const STEPS = 48;
/** Bins with less than this share of the heaviest all look alike. */
const FAINTEST = 1e-5;

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

/** Bytes of the lightest and of the heaviest bin: the ends of the ramp. */
export interface Extent {
  readonly lightest: number;
  readonly heaviest: number;
}

/** The ends of the ramp for some columns; bins with nothing in them have no say. */
export function extentOf(...columns: readonly Float32Array[]): Extent {
  let [lightest, heaviest] = [Infinity, 0];
  for (const column of columns) {
    for (const bytes of column) {
      if (bytes > heaviest) heaviest = bytes;
      if (bytes > 0 && bytes < lightest) lightest = bytes;
    }
  }
  return { lightest: Math.max(Math.min(lightest, heaviest), heaviest * FAINTEST), heaviest };
}

/** The step of a bin among `STEPS`, or -1 for an empty one. */
export function stepOf(bytes: number, { lightest, heaviest }: Extent): number {
  if (!(bytes > 0) || !(heaviest > 0)) return -1;
  if (heaviest <= lightest) return STEPS - 1;
  const share = Math.log(bytes / lightest) / Math.log(heaviest / lightest);
  return Math.min(STEPS - 1, Math.max(0, Math.round(share * (STEPS - 1))));
}
