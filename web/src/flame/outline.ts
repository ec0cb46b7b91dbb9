/** Outlines of the selected box and of the one under the mouse, above the boxes. */
import { ROW_HEIGHT, type Frame, type Look } from "./draw.ts";
import type { Box } from "./rows.ts";
import { placeOf, type Scene } from "./scene.ts";
import type { Viewport } from "./viewport.ts";

export interface Marks {
  readonly selection: Box | null;
  readonly hover: Box | null;
}

export function drawOutlines(
  context: CanvasRenderingContext2D,
  frame: Frame,
  scene: Scene,
  view: Viewport,
  look: Look,
  marks: Marks,
): void {
  context.setTransform(frame.ratio, 0, 0, frame.ratio, 0, 0);
  context.clearRect(0, 0, frame.width, frame.height);
  if (marks.hover) outline(context, frame, scene, view, marks.hover, look.outline, 1);
  if (marks.selection) outline(context, frame, scene, view, marks.selection, look.outline, 2);
}

function outline(
  context: CanvasRenderingContext2D,
  frame: Frame,
  scene: Scene,
  view: Viewport,
  box: Box,
  colour: string,
  line: number,
): void {
  const place = placeOf(scene, box);
  const scale = frame.width / (view.to - view.from);
  const top = (place.row - view.top) * ROW_HEIGHT;
  const left = Math.max(-4, (place.from - view.from) * scale);
  const right = Math.min(frame.width + 4, (place.to - view.from) * scale);
  if (right < 0 || left > frame.width || top + ROW_HEIGHT < 0 || top > frame.height) return;
  const inset = line / 2;
  context.strokeStyle = colour;
  context.lineWidth = line;
  const width = Math.max(line, right - left - 2 * inset - 0.5);
  context.strokeRect(left + inset, top + inset, width, ROW_HEIGHT - 2 * inset - 0.5);
}
