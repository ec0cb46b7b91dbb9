/**
 * Colours of boxes. A module has the same colour in every view, every recording and every session:
 * its name picks one of the hues. Allocation sites, the runtime and the focus have colours of their
 * own, so that they can be distinguished at a glance.
 */

export type Theme = "light" | "dark";

/** One look of a box: what fills it, and what its name is written in. */
export interface Paint {
  readonly fill: string;
  readonly text: string;
  /** A mark at the left edge of boxes that are wide enough. */
  readonly edge?: string;
}

const HUES = 14;
const SHADES = 2;

/** Indices into `palette`. */
export const UNKNOWN = 0;
export const RUNTIME = 1;
export const SITE = 2;
export const FOCUS = 3;
export const MATCH = 4;
export const FADED = 5;
const FIRST_MODULE = 6;
export const PAINTS = FIRST_MODULE + HUES * SHADES;

/** The colour of a module. */
export function moduleColour(module: string): number {
  return FIRST_MODULE + (hash(family(module)) % HUES) * SHADES + ((hash(module) >>> 16) % SHADES);
}

/** What belongs together has one hue: `Stdlib.Map` and `Stdlib__List` are both `Stdlib`. */
function family(module: string): string {
  const end = module.search(/\.|__/);
  return end > 0 ? module.slice(0, end) : module;
}

/** FNV-1a, with its bits mixed once more since few of them are used. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  }
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  return (h ^ (h >>> 13)) >>> 0;
}

/** All paints of a theme, by index. */
export function palette(theme: Theme): Paint[] {
  const light = theme === "light";
  const text = light ? "#1b1d22" : "#f1f2f4";
  const paints: Paint[] = [
    { fill: light ? "#dfe1e5" : "#3b3e45", text },
    { fill: light ? "#cdd1d8" : "#4a4e57", text },
    { fill: light ? "#f3efe4" : "#2b2d2f", text, edge: light ? "#1d7a43" : "#6fd395" },
    { fill: light ? "#ffd24a" : "#e0b020", text: "#1b1d22" },
    { fill: light ? "#d61f8c" : "#ff6fc0", text: light ? "#ffffff" : "#1b1d22" },
    { fill: light ? "#ededf0" : "#26282d", text: light ? "#63666e" : "#9a9da6" },
  ];
  for (let hue = 0; hue < HUES; hue++) {
    for (let shade = 0; shade < SHADES; shade++) {
      // Yellow is the focus's; hues keep their distance from it.
      const angle = (125 + (hue * 310) / HUES) % 360;
      const lightness = light ? 0.855 - 0.05 * shade : 0.405 + 0.05 * shade;
      paints.push({ fill: hex(oklch(lightness, light ? 0.075 : 0.07, angle)), text });
    }
  }
  return paints;
}

/** Linear-light components of an OKLCH colour, clipped to sRGB. */
export function oklch(lightness: number, chroma: number, degrees: number): [number, number, number] {
  const a = chroma * Math.cos((degrees * Math.PI) / 180);
  const b = chroma * Math.sin((degrees * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const inside = (x: number): number => Math.min(1, Math.max(0, x));
  return [
    inside(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    inside(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    inside(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

/** `#rrggbb` of linear-light components. */
export function hex(linear: readonly [number, number, number]): string {
  const byte = (x: number): string => {
    const encoded = x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
    return Math.round(255 * encoded)
      .toString(16)
      .padStart(2, "0");
  };
  return `#${linear.map(byte).join("")}`;
}
