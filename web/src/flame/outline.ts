/**
 * The outlines of the selected box and of the one under the mouse: two elements above the canvas.
 * Moving them repaints little, where a second canvas would be put together with the first as a whole.
 */
import { ROW_HEIGHT, type Frame } from "./draw.ts";
import type { Box } from "./rows.ts";
import { placeOf, type Scene } from "./scene.ts";
import type { Viewport } from "./viewport.ts";

/** How far an outline reaches beyond the edge of the screen, so that it does not show there. */
const BEYOND = 6;

export class Outline {
  private readonly element = document.createElement("div");
  private last = "";

  constructor(parent: HTMLElement, kind: "selected" | "hovered") {
    this.element.className = `flame-outline ${kind}`;
    this.element.hidden = true;
    parent.append(this.element);
  }

  /** Puts the outline around a box, as far as it is in sight. */
  place(box: Box | null, scene: Scene, view: Viewport, frame: Frame): void {
    const style = box ? edges(box, scene, view, frame) : "";
    if (style === this.last) return;
    this.last = style;
    this.element.hidden = style === "";
    const [left, top, width] = style.split(" ");
    if (style === "") return;
    this.element.style.transform = `translate(${left}px, ${top}px)`;
    this.element.style.width = `${width}px`;
  }
}

/** `left top width`, in CSS pixels; empty for what is out of sight. */
function edges(box: Box, scene: Scene, view: Viewport, frame: Frame): string {
  const place = placeOf(scene, box);
  const scale = frame.width / (view.to - view.from);
  const top = (place.row - view.top) * ROW_HEIGHT;
  const left = Math.max(-BEYOND, (place.from - view.from) * scale);
  const right = Math.min(frame.width + BEYOND, (place.to - view.from) * scale);
  if (right < 0 || left > frame.width || top + ROW_HEIGHT < 0 || top > frame.height) return "";
  return `${left.toFixed(1)} ${top.toFixed(1)} ${Math.max(2, right - left).toFixed(1)}`;
}
