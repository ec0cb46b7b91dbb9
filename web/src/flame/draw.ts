/**
 * Draws a scene on a canvas. Only what is on the screen is looked at; boxes narrower than half a
 * pixel are drawn together, hatched; and boxes are filled colour by colour, because changing the
 * colour is what costs.
 */
import { PAINTS, SITE, type Paint } from "./colour.ts";
import type { Labels } from "./label.ts";
import { contentOf, rowCount, rowShowing, type Part } from "./rows.ts";
import { coloursOf, treeOf, type Scene } from "./scene.ts";
import { firstBoxAfter, type Tree } from "./tree.ts";
import type { Viewport } from "./viewport.ts";

export const ROW_HEIGHT = 19;
export const FONT = '12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';
const TEXT_LEFT = 5;
const TEXT_BASE = 13;
/** Kept free in the focus for its sum and share. */
const SUM_ROOM = 150;
/** A box narrower than this, in CSS pixels, has no room for a name. */
const NARROWEST_LABEL = 26;

export interface Look {
  readonly paints: readonly Paint[];
  readonly background: string;
  readonly hatch: CanvasPattern | string;
  /** The edge that marks an allocation site. */
  readonly siteEdge: string;
  /** Lines around boxes that are selected or under the mouse. */
  readonly outline: string;
}

/** Boxes to be filled, chained by colour; kept from frame to frame. */
class Boxes {
  left = new Int32Array(4096);
  top = new Int32Array(4096);
  width = new Int32Array(4096);
  next = new Int32Array(4096);
  readonly first = new Int32Array(PAINTS + 1);
  count = 0;

  clear(): void {
    this.count = 0;
    this.first.fill(-1);
  }

  add(colour: number, left: number, top: number, width: number): void {
    const at = this.count++;
    if (at === this.left.length) this.grow();
    this.left[at] = left;
    this.top[at] = top;
    this.width[at] = width;
    this.next[at] = this.first[colour]!;
    this.first[colour] = at;
  }

  private grow(): void {
    const twice = (old: Int32Array): Int32Array<ArrayBuffer> => {
      const grown = new Int32Array(old.length * 2);
      grown.set(old);
      return grown;
    };
    this.left = twice(this.left);
    this.top = twice(this.top);
    this.width = twice(this.width);
    this.next = twice(this.next);
  }
}

interface Written {
  text: string;
  x: number;
  y: number;
  colour: number;
}

const HATCHED = PAINTS;
const boxes = new Boxes();
const texts: Written[] = [];

export interface Frame {
  /** Size in CSS pixels, and device pixels to one of them. */
  readonly width: number;
  readonly height: number;
  readonly ratio: number;
}

/** Draws one frame; the number of boxes drawn. */
export function draw(
  context: CanvasRenderingContext2D,
  frame: Frame,
  scene: Scene,
  view: Viewport,
  look: Look,
  labels: Labels,
): number {
  const { width, height, ratio } = frame;
  boxes.clear();
  texts.length = 0;
  const first = Math.max(0, Math.floor(view.top));
  const last = Math.min(rowCount(scene.rows) - 1, Math.ceil(view.top + height / ROW_HEIGHT));
  for (let row = first; row <= last; row++) {
    const top = Math.round((row - view.top) * ROW_HEIGHT * ratio);
    const { part, depth } = contentOf(scene.rows, row);
    const tree = treeOf(scene, part);
    if (tree) collectRow(tree, part, depth, top, frame, scene, view, labels);
    else collectFocus(depth, top, frame, scene, view, labels);
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = look.background;
  context.fillRect(0, 0, Math.ceil(width * ratio), Math.ceil(height * ratio));
  fillBoxes(context, ratio, look);
  writeTexts(context, ratio, look);
  writeSum(context, frame, scene, view, look);
  return boxes.count;
}

/** The boxes of one row that are on the screen, parent by parent. */
function collectRow(
  tree: Tree,
  part: Part,
  depth: number,
  top: number,
  frame: Frame,
  scene: Scene,
  view: Viewport,
  labels: Labels,
): void {
  const colours = coloursOf(scene, part);
  const screen = frame.width * frame.ratio;
  const scale = screen / (view.to - view.from) / scene.width;
  const origin = view.from * scene.width;
  const half = 0.5 * frame.ratio;
  const wanted = NARROWEST_LABEL * frame.ratio;
  let runLeft = 0;
  let runRight = -1;
  const closeRun = (): void => {
    const left = Math.round(runLeft);
    if (runRight - runLeft >= half) {
      boxes.add(HATCHED, left, top, Math.max(1, Math.round(runRight) - left));
    }
    runRight = -1;
  };
  const hatch = (left: number, right: number): void => {
    if (runRight < 0 || left - runRight > half) {
      closeRun();
      runLeft = Math.max(0, left);
    }
    runRight = Math.min(screen, right);
  };
  const show = (box: number, left: number, right: number): void => {
    closeRun();
    const from = Math.max(-1, Math.round(left));
    const to = Math.min(screen + 1, Math.round(right));
    const colour = colours[box]!;
    boxes.add(colour, from, top, Math.max(1, to - from));
    if (to - Math.max(0, from) >= wanted) {
      write(scene.label(part, box), from, to, top, colour, frame.ratio, labels);
    }
  };
  const visible = firstBoxAfter(tree, depth, origin);
  const parents = tree.rowStart[depth]!;
  for (let above = firstBoxAfter(tree, depth - 1, origin); above < parents; above++) {
    if ((tree.left[above]! - origin) * scale >= screen) break;
    const end = tree.firstChild[above + 1]!;
    let edge = (tree.left[above]! - origin) * scale;
    if (end > tree.firstChild[above]!) edge = (tree.right[end - 1]! - origin) * scale;
    for (let box = Math.max(visible, tree.firstChild[above]!); box < end; box++) {
      const left = (tree.left[box]! - origin) * scale;
      if (left >= screen) break;
      const right = (tree.right[box]! - origin) * scale;
      if (right - left < half) hatch(left, right);
      else show(box, left, right);
    }
    // What was cut away stands to the right of the last child that was not.
    if (tree.more[above] !== 0 && edge < screen) hatch(edge, (tree.right[above]! - origin) * scale);
  }
  closeRun();
}

function write(
  name: string,
  from: number,
  to: number,
  top: number,
  colour: number,
  ratio: number,
  labels: Labels,
): void {
  const start = Math.max(0, from) + TEXT_LEFT * ratio;
  const text = labels.fit(name, (to - start) / ratio - 4);
  if (text) texts.push({ text, x: start, y: top, colour });
}

function collectFocus(
  position: number,
  top: number,
  frame: Frame,
  scene: Scene,
  view: Viewport,
  labels: Labels,
): void {
  const scale = (frame.width * frame.ratio) / (view.to - view.from);
  const screen = frame.width * frame.ratio;
  const from = Math.max(-1, Math.round(-view.from * scale));
  const to = Math.min(screen + 1, Math.round((1 - view.from) * scale));
  const box = scene.focus[position];
  if (!box) return;
  boxes.add(box.colour, from, top, to - from);
  const sum = position === scene.rows.focus - 1 ? SUM_ROOM * frame.ratio : 0;
  write(box.label, from, Math.min(screen, to) - sum, top, box.colour, frame.ratio, labels);
}

function fillBoxes(context: CanvasRenderingContext2D, ratio: number, look: Look): void {
  const { left, top, width, next, first } = boxes;
  const gap = Math.max(1, Math.round(ratio / 2));
  const height = Math.round(ROW_HEIGHT * ratio) - gap;
  for (let colour = 0; colour <= PAINTS; colour++) {
    let at = first[colour]!;
    if (at < 0) continue;
    context.fillStyle = colour === HATCHED ? look.hatch : look.paints[colour]!.fill;
    for (; at >= 0; at = next[at]!) {
      const wide = width[at]!;
      context.fillRect(left[at]!, top[at]!, wide >= 3 * gap ? wide - gap : wide, height);
    }
  }
  context.fillStyle = look.siteEdge;
  const edge = Math.round(3 * ratio);
  for (let at = first[SITE]!; at >= 0; at = next[at]!) {
    if (width[at]! >= 3 * edge) context.fillRect(left[at]!, top[at]!, edge, height);
  }
}

function writeTexts(context: CanvasRenderingContext2D, ratio: number, look: Look): void {
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = FONT;
  context.textBaseline = "alphabetic";
  let style = "";
  for (const { text, x, y, colour } of texts) {
    const wanted = look.paints[colour]!.text;
    if (wanted !== style) {
      context.fillStyle = wanted;
      style = wanted;
    }
    context.fillText(text, x / ratio, y / ratio + TEXT_BASE);
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
}

/** How much the focus is, at the right end of its last function, with a bracket over all of it. */
function writeSum(
  context: CanvasRenderingContext2D,
  frame: Frame,
  scene: Scene,
  view: Viewport,
  look: Look,
): void {
  const { rows, focus, sum } = scene;
  const paint = look.paints[focus[focus.length - 1]?.colour ?? 0]!;
  const place = (depth: number): number =>
    (rowShowing(rows, { part: "focus", depth }) - view.top) * ROW_HEIGHT;
  const last = place(rows.focus - 1);
  const first = place(0);
  context.setTransform(frame.ratio, 0, 0, frame.ratio, 0, 0);
  context.fillStyle = paint.text;
  context.textAlign = "right";
  context.fillText(sum, frame.width - (rows.focus > 1 ? 16 : 8), last + TEXT_BASE);
  context.textAlign = "left";
  if (rows.focus > 1) {
    const [top, bottom] = [Math.min(first, last) + 3, Math.max(first, last) + ROW_HEIGHT - 4];
    context.fillRect(frame.width - 7, top, 2, bottom - top);
    context.fillRect(frame.width - 11, top, 4, 2);
    context.fillRect(frame.width - 11, bottom - 2, 4, 2);
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
}
