/**
 * Draws a scene on a canvas. Only what is on the screen is looked at; boxes narrower than half a
 * pixel are drawn together, hatched.
 */
import type { Paint } from "./colour.ts";
import type { Labels } from "./label.ts";
import { contentOf, rowCount, rowShowing, type Part } from "./rows.ts";
import { coloursOf, treeOf, type Scene } from "./scene.ts";
import { Strip } from "./strip.ts";
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
  /** The fills and edges of `paints`, and other colours, as pixels; 0 for no edge. */
  readonly fills: Uint32Array;
  readonly edges: Uint32Array;
  readonly background: number;
  readonly hatchLine: number;
  readonly backgroundStyle: string;
  readonly hatch: CanvasPattern | string;
}

interface Written {
  text: string;
  x: number;
  y: number;
  colour: number;
}

/** Wider than this a run of boxes that are too narrow is hatched; else it is a line. */
const HATCHED_FROM = 3;

// Kept from frame to frame.
const strip = new Strip();
const tops: number[] = [];
const texts: Written[] = [];
const runs: { left: number; top: number; width: number }[] = [];
let drawn = 0;

export interface Frame {
  /** Size in CSS pixels, and device pixels to one of them. */
  readonly width: number;
  readonly height: number;
  readonly ratio: number;
}

/** All that a frame depends on. */
export interface Picture {
  readonly frame: Frame;
  readonly scene: Scene;
  readonly view: Viewport;
  readonly look: Look;
  readonly labels: Labels;
}

/** Draws one frame; the number of boxes drawn. */
export function draw(context: CanvasRenderingContext2D, picture: Picture): number {
  const { frame, scene, view, look } = picture;
  const { height, ratio } = frame;
  const screen = Math.round(frame.width * ratio);
  const first = Math.max(0, Math.floor(view.top));
  const last = Math.min(rowCount(scene.rows) - 1, Math.ceil(view.top + height / ROW_HEIGHT));
  texts.length = runs.length = tops.length = drawn = 0;
  strip.begin(screen, Math.max(0, last - first + 1), look.background);
  for (let row = first; row <= last; row++) {
    const top = Math.round((row - view.top) * ROW_HEIGHT * ratio);
    const line = tops.push(top) - 1;
    const { part, depth } = contentOf(scene.rows, row);
    const tree = treeOf(scene, part);
    if (tree) collectRow(tree, part, depth, line, picture);
    else collectFocus(depth, line, picture);
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = look.backgroundStyle;
  context.fillRect(0, 0, screen, Math.ceil(height * ratio));
  const high = Math.round(ROW_HEIGHT * ratio) - gapOf(ratio);
  strip.stretch(context, tops, high);
  context.fillStyle = look.hatch;
  for (const run of runs) context.fillRect(run.left, run.top, run.width, high);
  writeTexts(context, ratio, look);
  writeSum(context, picture);
  return drawn;
}

/** Between boxes, in device pixels. */
function gapOf(ratio: number): number {
  return Math.max(1, Math.round(ratio / 2));
}

function fillBox(picture: Picture, line: number, from: number, to: number, colour: number): void {
  const { look, frame } = picture;
  const { ratio } = frame;
  const gap = gapOf(ratio);
  const end = to - from >= 3 * gap ? to - gap : Math.max(from + 1, to);
  drawn++;
  strip.fill(line, from, end, look.fills[colour]!);
  const edge = Math.round(3 * ratio);
  const edged = look.edges[colour]!;
  if (edged !== 0 && to - from >= 3 * edge) strip.fill(line, from, from + edge, edged);
}

/** The boxes of one row that are on the screen, parent by parent. */
function collectRow(tree: Tree, part: Part, depth: number, line: number, picture: Picture): void {
  const { frame, scene, view, look } = picture;
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
      const width = Math.max(1, Math.round(runRight) - left);
      drawn++;
      strip.fill(line, left, left + width, look.hatchLine);
      if (width >= HATCHED_FROM) runs.push({ left, top: tops[line]!, width });
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
    fillBox(picture, line, from, to, colour);
    if (to - Math.max(0, from) >= wanted) {
      write(picture, scene.label(part, box), line, from, to, colour);
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

function write({ frame, labels }: Picture, name: string, line: number, from: number, to: number, colour: number): void {
  const start = Math.max(0, from) + TEXT_LEFT * frame.ratio;
  const text = labels.fit(name, (to - start) / frame.ratio - 4);
  if (text) texts.push({ text, x: start, y: tops[line]!, colour });
}

function collectFocus(position: number, line: number, picture: Picture): void {
  const { frame, scene, view } = picture;
  const scale = (frame.width * frame.ratio) / (view.to - view.from);
  const screen = frame.width * frame.ratio;
  const from = Math.max(-1, Math.round(-view.from * scale));
  const to = Math.min(screen + 1, Math.round((1 - view.from) * scale));
  const box = scene.focus[position];
  if (!box) return;
  fillBox(picture, line, from, to, box.colour);
  const sum = position === scene.rows.focus - 1 ? SUM_ROOM * frame.ratio : 0;
  write(picture, box.label, line, from, Math.min(screen, to) - sum, box.colour);
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
function writeSum(context: CanvasRenderingContext2D, { frame, scene, view, look }: Picture): void {
  const { rows, focus, sum } = scene;
  const paint = look.paints[focus[focus.length - 1]?.colour ?? 0]!;
  const place = (depth: number): number => (rowShowing(rows, { part: "focus", depth }) - view.top) * ROW_HEIGHT;
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
