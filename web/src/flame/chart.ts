/**
 * A flame graph in the page: a canvas with the part that is shown, drawn again when the view moves,
 * and above it the outlines of what is selected and under the mouse.
 */
import { draw, FONT, ROW_HEIGHT, type Look } from "./draw.ts";
import { Labels } from "./label.ts";
import { Outline } from "./outline.ts";
import { firstTop, rowCount, type Box } from "./rows.ts";
import { boxUnder, placeOf, sameBox, type Scene } from "./scene.ts";
import {
  between,
  clamp,
  pan,
  reveal,
  revealStretch,
  zoomAbout,
  WHOLE_WIDTH,
  type Viewport,
  type Window,
} from "./viewport.ts";

export interface ChartEvents {
  /** The mouse is over another box, or over none. */
  hovered(box: Box | null): void;
  selected(box: Box | null): void;
  /** The view has come to rest somewhere else. */
  settled(): void;
  /** The view moves. */
  moved(): void;
}

const ANIMATION_MS = 180;
/** How long the view has to rest before it counts as settled. */
const REST_MS = 160;
/** A selected box is made at least this wide, as a share of the screen. */
const LEAST_SHARE = 0.004;

export class Chart {
  readonly element: HTMLDivElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly outlines: { hovered: Outline; selected: Outline };
  private readonly labels: Labels;
  private scene: Scene | null = null;
  private look: Look | null = null;
  private view: Viewport = { ...WHOLE_WIDTH, top: 0 };
  private size = { width: 0, height: 0, ratio: 1 };
  private selection: Box | null = null;
  private hover: Box | null = null;
  private flight: { from: Viewport; to: Viewport; began: number } | null = null;
  private frame = 0;
  /** The canvas is to be drawn again, and not the outlines alone. */
  private stale = true;
  private rest: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly events: ChartEvents) {
    this.element = document.createElement("div");
    this.element.className = "flame-chart";
    this.canvas = this.element.appendChild(document.createElement("canvas"));
    this.outlines = {
      hovered: new Outline(this.element, "hovered"),
      selected: new Outline(this.element, "selected"),
    };
    const measuring = document.createElement("canvas").getContext("2d")!;
    measuring.font = FONT;
    this.labels = new Labels((text) => measuring.measureText(text).width);
  }

  get shown(): Scene | null {
    return this.scene;
  }
  get viewport(): Viewport {
    return this.flight ? this.flight.to : this.view;
  }
  /** Where the view is at this moment, also while it moves. */
  get present(): Viewport {
    return this.view;
  }
  get window(): Window {
    return {
      rows: this.scene ? rowCount(this.scene.rows) : 0,
      visible: this.size.height / ROW_HEIGHT,
      floor: this.scene?.rows.orientation === "flame",
    };
  }
  get selectedBox(): Box | null {
    return this.selection;
  }

  /** Shows another scene; `view` is what of it, or else the whole with the focus in sight. */
  show(scene: Scene, view: Viewport | null): void {
    this.scene = scene;
    this.flight = null;
    this.hover = null;
    const first = { ...WHOLE_WIDTH, top: firstTop(scene.rows, this.window.visible) };
    this.view = clamp(view ?? first, this.window);
    this.redraw();
    this.restLater();
  }

  /** The same boxes, with other colours or names. */
  repaint(scene: Scene): void {
    this.scene = scene;
    this.redraw();
  }

  setLook(look: Look): void {
    this.look = look;
    this.redraw();
  }

  resize(width: number, height: number, ratio: number): void {
    const before = this.size.height;
    this.size = { width, height, ratio };
    // Setting them, even to what they are, empties the canvas.
    const [wide, high] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
    if (this.canvas.width !== wide) this.canvas.width = wide;
    if (this.canvas.height !== high) this.canvas.height = high;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    // What stands at the lower edge of flames, or at the upper one of icicles, stays there.
    const shift = this.window.floor ? (height - before) / ROW_HEIGHT : 0;
    const first = before === 0 && this.scene;
    const top = first ? firstTop(first.rows, this.window.visible) : this.view.top - shift;
    this.view = clamp({ ...this.view, top }, this.window);
    this.redraw();
  }

  select(box: Box | null, inSight = true): void {
    if (!sameBox(box, this.selection)) {
      this.selection = box;
      this.nextFrame();
      this.events.selected(box);
    }
    if (box && inSight && this.scene) {
      const place = placeOf(this.scene, box);
      const rowed = reveal(this.viewport, place.row, this.window.visible);
      const wanted = revealStretch(rowed, place.from, place.to, LEAST_SHARE);
      if (wanted !== this.viewport) this.fly(wanted);
    }
  }

  hoverAt(x: number, y: number): Box | null {
    const box = this.boxAt(x, y);
    if (!sameBox(box, this.hover)) {
      this.hover = box;
      this.nextFrame();
      this.events.hovered(box);
    }
    return box;
  }

  leave(): void {
    if (this.hover === null) return;
    this.hover = null;
    this.nextFrame();
    this.events.hovered(null);
  }

  /** The box at a point, in CSS pixels from the upper left corner. */
  boxAt(x: number, y: number): Box | null {
    if (!this.scene || x < 0 || y < 0 || x >= this.size.width || y >= this.size.height) return null;
    const at = this.view.from + (x / this.size.width) * (this.view.to - this.view.from);
    return boxUnder(this.scene, Math.floor(this.view.top + y / ROW_HEIGHT), at);
  }

  /** The lower left corner of a box, as far as it is in sight, in the window. */
  cornerOf(box: Box): { x: number; y: number } {
    const frame = this.element.getBoundingClientRect();
    if (!this.scene) return { x: frame.left, y: frame.top };
    const { row, from } = placeOf(this.scene, box);
    const across = (from - this.view.from) / (this.view.to - this.view.from);
    const down = (row + 1 - this.view.top) * ROW_HEIGHT;
    return {
      x: frame.left + Math.max(0, Math.min(1, across)) * this.size.width,
      y: frame.top + Math.max(0, Math.min(this.size.height, down)),
    };
  }

  /** Makes a box as wide as the screen. */
  zoomTo(box: Box): void {
    if (!this.scene) return;
    const { row, from, to } = placeOf(this.scene, box);
    if (to > from) this.fly(reveal({ ...this.viewport, from, to }, row, this.window.visible));
  }

  /** The whole width, and the focus in sight. */
  zoomOut(): void {
    if (!this.scene) return;
    this.fly({ ...WHOLE_WIDTH, top: firstTop(this.scene.rows, this.window.visible) });
  }

  zoomAt(share: number, factor: number): void {
    this.move(zoomAbout(this.view, share, factor));
  }

  zoomInPlace(factor: number): void {
    const place = this.scene && this.selection ? placeOf(this.scene, this.selection) : null;
    const { from, to } = this.viewport;
    const middle = place ? ((place.from + place.to) / 2 - from) / (to - from) : 0.5;
    const at = middle >= 0 && middle <= 1 ? middle : 0.5;
    this.fly(zoomAbout(this.viewport, at, factor));
  }

  panBy(x: number, y: number): void {
    this.move(pan(this.view, x / Math.max(1, this.size.width), y / ROW_HEIGHT));
  }

  scrollToRow(top: number): void {
    this.move({ ...this.view, top });
  }

  /** Whether there are more rows than fit. */
  get scrolls(): boolean {
    return this.window.rows > this.window.visible;
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.rest);
  }

  private move(view: Viewport): void {
    this.flight = null;
    this.view = clamp(view, this.window);
    this.redraw();
    this.restLater();
  }

  private fly(to: Viewport): void {
    const target = clamp(to, this.window);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.move(target);
      return;
    }
    this.flight = { from: this.view, to: target, began: performance.now() };
    this.redraw();
  }

  private redraw(): void {
    this.stale = true;
    this.nextFrame();
    this.events.moved();
  }

  private nextFrame(): void {
    this.frame ||= requestAnimationFrame((now) => this.paint(now));
  }

  private paint(now: number): void {
    this.frame = 0;
    const { scene, look, size } = this;
    if (!scene || !look || size.width === 0) return;
    if (this.flight) this.advance(now, this.flight);
    if (this.stale) {
      const context = this.canvas.getContext("2d", { alpha: false })!;
      draw(context, { frame: size, scene, view: this.view, look, labels: this.labels });
    }
    this.stale = false;
    this.outlines.hovered.place(this.hover, scene, this.view, size);
    this.outlines.selected.place(this.selection, scene, this.view, size);
    if (this.flight) this.redraw();
  }

  private advance(now: number, flight: { from: Viewport; to: Viewport; began: number }): void {
    const progress = Math.min(1, Math.max(0, (now - flight.began) / ANIMATION_MS));
    this.view = between(flight.from, flight.to, progress);
    if (progress >= 1) {
      this.flight = null;
      this.restLater();
    }
  }

  private restLater(): void {
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.events.settled(), REST_MS);
  }
}
