/**
 * The mouse, the touchpad and fingers on a flame graph.
 *
 *     click          selects              double click   takes into the focus
 *     Shift+click    zooms to the box     drag           moves
 *     Ctrl+wheel, pinch   zooms           wheel          scrolls; with Shift, sideways
 *     right click    selects, and opens the menu of the box
 */
import type { Chart } from "./chart.ts";
import type { Box } from "./rows.ts";

export interface Gestures {
  extend(box: Box): void;
  /** The menu of a box is asked for at a point of the window. */
  menu(box: Box, at: { x: number; y: number }): void;
  /** Where the mouse is, for the card beside it; null when it has left or drags. */
  pointer(at: { x: number; y: number } | null): void;
}

/** Below this a press that moved is a click. */
const DRAG_BEGINS = 4;
/** Wheels report pixels, lines or pages. */
const PIXELS_PER = [1, 19, 400];

/** Listens on the chart's element; the returned function stops that. */
export function listen(chart: Chart, gestures: Gestures): () => void {
  const element = chart.element;
  const pointers = new Map<number, { x: number; y: number }>();
  let dragged = false;
  let pressed: { x: number; y: number } | null = null;

  const place = (event: MouseEvent): { x: number; y: number } => {
    const { left, top } = element.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };

  const down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    const at = place(event);
    pointers.set(event.pointerId, at);
    if (pointers.size === 1) {
      pressed = at;
      dragged = false;
    }
  };

  const move = (event: PointerEvent): void => {
    const at = place(event);
    const before = pointers.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch") {
        chart.hoverAt(at.x, at.y);
        gestures.pointer(at);
      }
      return;
    }
    if (pressed && !dragged && Math.hypot(at.x - pressed.x, at.y - pressed.y) < DRAG_BEGINS) return;
    if (!dragged) {
      dragged = true;
      element.setPointerCapture(event.pointerId);
      element.classList.add("dragging");
      chart.leave();
      gestures.pointer(null);
    }
    if (pointers.size === 1) {
      chart.panBy(before.x - at.x, before.y - at.y);
    } else {
      pinch(event.pointerId, before, at);
    }
    pointers.set(event.pointerId, at);
  };

  const pinch = (id: number, before: { x: number; y: number }, at: { x: number; y: number }): void => {
    for (const [other, still] of pointers) {
      if (other === id) continue;
      const apart = Math.max(8, Math.abs(before.x - still.x));
      const now = Math.max(8, Math.abs(at.x - still.x));
      chart.zoomAt(still.x / Math.max(1, element.clientWidth), now / apart);
      chart.panBy(0, (before.y - at.y) / 2);
      return;
    }
  };

  const up = (event: PointerEvent): void => {
    if (!pointers.delete(event.pointerId)) return;
    if (pointers.size === 0) {
      element.classList.remove("dragging");
      pressed = null;
    }
  };

  const click = (event: MouseEvent): void => {
    if (dragged) return;
    const { x, y } = place(event);
    const box = chart.boxAt(x, y);
    chart.select(box, false);
    if (box && event.shiftKey) chart.zoomTo(box);
  };

  const doubleClick = (event: MouseEvent): void => {
    const { x, y } = place(event);
    const box = chart.boxAt(x, y);
    if (box && !event.shiftKey) gestures.extend(box);
  };

  const menu = (event: MouseEvent): void => {
    const { x, y } = place(event);
    const box = chart.boxAt(x, y);
    if (!box) return;
    event.preventDefault();
    chart.select(box, false);
    gestures.pointer(null);
    gestures.menu(box, { x: event.clientX, y: event.clientY });
  };

  const wheel = (event: WheelEvent): void => {
    const unit = PIXELS_PER[event.deltaMode] ?? 1;
    const [x, y] = [event.deltaX * unit, event.deltaY * unit];
    const at = place(event);
    if (event.ctrlKey || event.metaKey) {
      chart.zoomAt(at.x / Math.max(1, element.clientWidth), Math.exp(-y / (event.ctrlKey ? 240 : 400)));
    } else if (event.shiftKey && x === 0) {
      chart.panBy(y, 0);
    } else {
      if (x === 0 && !chart.scrolls) return;
      chart.panBy(x, y);
    }
    event.preventDefault();
    chart.hoverAt(at.x, at.y);
  };

  const leave = (): void => {
    chart.leave();
    gestures.pointer(null);
  };

  const listeners: [string, EventListener][] = [
    ["contextmenu", menu as EventListener],
    ["pointerdown", down as EventListener],
    ["pointermove", move as EventListener],
    ["pointerup", up as EventListener],
    ["pointercancel", up as EventListener],
    ["pointerleave", leave],
    ["click", click as EventListener],
    ["dblclick", doubleClick as EventListener],
    ["wheel", wheel as EventListener],
  ];
  for (const [name, listener] of listeners) element.addEventListener(name, listener, { passive: false });
  return () => {
    for (const [name, listener] of listeners) element.removeEventListener(name, listener);
  };
}
