/** The colours of a flame graph in the theme in use. */
import { themeColor } from "../shell/theme.ts";
import type { Paint } from "./colour.ts";
import type { Look } from "./draw.ts";
import { pixelOf } from "./strip.ts";

export function lookOf(paints: readonly Paint[]): Look {
  return {
    paints,
    fills: Uint32Array.from(paints, ({ fill }) => pixelOf(fill)),
    background: pixelOf(themeColor("--panel")),
    hatchLine: pixelOf(themeColor("--line-2")),
    edges: Uint32Array.from(paints, ({ edge }) => (edge ? pixelOf(edge) : 0)),
    backgroundStyle: themeColor("--panel"),
    hatch: hatching(themeColor("--sunken"), themeColor("--line-2")),
  };
}

/** Slanted lines, for colours that are too light to be distinguished. */
function hatching(ground: string, line: string): CanvasPattern | string {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const context = tile.getContext("2d");
  if (!context) return ground;
  context.fillStyle = ground;
  context.fillRect(0, 0, 6, 6);
  context.strokeStyle = line;
  context.lineWidth = 1.4;
  context.beginPath();
  for (const shift of [-6, 0, 6]) {
    context.moveTo(shift - 1, 7);
    context.lineTo(shift + 7, -1);
  }
  context.stroke();
  return context.createPattern(tile, "repeat") ?? ground;
}
