/** Draws a treemap on a canvas. */
import type { Paint } from "../../flame/colour.ts";
import type { Labels } from "../../flame/label.ts";
import { bytes } from "../../text/units.ts";
import type { BoxRow } from "../../generated/responses.ts";
import { boxColour } from "../kindColour.ts";
import { TITLE, type Places, type Rect } from "./layout.ts";

export const FONT = '12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';

export interface Look {
  paints: readonly Paint[];
  background: string;
}

/** A box smaller than this is not drawn by itself. */
const LEAST = 1.5;
const LEAST_TITLE = 28;

export function draw(
  context: CanvasRenderingContext2D,
  ratio: number,
  size: { width: number; height: number },
  boxes: readonly BoxRow[],
  places: Places,
  look: Look,
  labels: Labels,
): void {
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = look.background;
  context.fillRect(0, 0, size.width, size.height);
  context.font = FONT;
  context.textBaseline = "middle";
  context.lineWidth = 1;
  boxes.forEach((box, at) => {
    const rect = places.rects[at]!;
    if (rect.width < LEAST || rect.height < LEAST) return;
    const paint = look.paints[boxColour(box.what, box.name)]!;
    if (at > 0) {
      context.fillStyle = paint.fill;
      context.fillRect(rect.left, rect.top, rect.width, rect.height);
      context.strokeStyle = look.background;
      context.strokeRect(rect.left + 0.5, rect.top + 0.5, Math.max(0, rect.width - 1), Math.max(0, rect.height - 1));
      title(context, box, rect, places.nested[at]!, paint.text, labels);
    }
  });
}

/** The name and size of a box: in a line above what is in it, or in its upper left corner. */
function title(
  context: CanvasRenderingContext2D,
  box: BoxRow,
  rect: Rect,
  nested: boolean,
  ink: string,
  labels: Labels,
): void {
  if (rect.width < LEAST_TITLE || rect.height < TITLE - 3) return;
  if (nested && rect.height <= 2 * TITLE) return;
  context.fillStyle = ink;
  const size = bytes(box.retained);
  const room = rect.width - 10;
  const middle = rect.top + TITLE / 2;
  const twoLines = !nested && rect.height >= 2 * TITLE;
  const sizeRoom = context.measureText(size).width;
  const beside = !twoLines && room > sizeRoom + 60;
  const name = labels.fit(box.name, beside ? room - sizeRoom - 10 : room);
  if (name) context.fillText(name, rect.left + 5, middle);
  context.globalAlpha = 0.75;
  if (beside) {
    context.textAlign = "right";
    context.fillText(size, rect.left + rect.width - 5, middle);
    context.textAlign = "left";
  } else if (twoLines && room >= sizeRoom) context.fillText(size, rect.left + 5, middle + TITLE - 3);
  context.globalAlpha = 1;
}
