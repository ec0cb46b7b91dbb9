/** Where the boxes of a treemap stand: squarified, nested, with room for a box's name above what is in it. */
import type { Box } from "../answers.ts";

export interface Rect {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Boxes with places, by index into the answer; those too small to be seen have no area. */
export interface Places {
  rects: Rect[];
  /** Whether the box shows what is in it. */
  nested: boolean[];
}

/** CSS pixels. */
export const TITLE = 18;
const EDGE = 2;
/** A box smaller than this shows nothing of what is in it. */
const LEAST = 12;
const NOTHING: Rect = { left: 0, top: 0, width: 0, height: 0 };

/** Gives every box its place in `whole`. */
export function layOut(boxes: readonly Box[], whole: Rect): Places {
  const children = childrenOf(boxes);
  const rects: Rect[] = boxes.map(() => NOTHING);
  const nested: boolean[] = boxes.map(() => false);
  if (boxes.length > 0) rects[0] = whole;
  // Parents stand before their children.
  boxes.forEach((box, at) => {
    const below = children[at]!;
    const rect = rects[at]!;
    if (below.length === 0 || rect.width < LEAST || rect.height < LEAST) return;
    const inside = at === 0 ? rect : inner(rect);
    if (inside.width < LEAST || inside.height < LEAST) return;
    nested[at] = true;
    const sizes = below.map((child) => boxes[child]!.retained);
    // What the box is itself stays free at the end.
    const placed = squarify(sizes, inside, Math.max(box.retained, sum(sizes)));
    below.forEach((child, index) => {
      rects[child] = placed[index]!;
    });
  });
  return { rects, nested };
}

function childrenOf(boxes: readonly Box[]): number[][] {
  const children: number[][] = boxes.map(() => []);
  boxes.forEach(({ parent }, at) => {
    if (at > 0) children[parent]!.push(at);
  });
  return children;
}

/** What of a box its children may have. */
function inner({ left, top, width, height }: Rect): Rect {
  const title = height > 2 * TITLE ? TITLE : EDGE;
  return {
    left: left + EDGE,
    top: top + title,
    width: Math.max(0, width - 2 * EDGE),
    height: Math.max(0, height - title - EDGE),
  };
}

/**
 * Rectangles with areas as `sizes`, of which `total` would fill `room`; sizes descend. Rows are laid
 * along the shorter side, as long as that makes their boxes more square.
 */
export function squarify(sizes: readonly number[], room: Rect, total: number): Rect[] {
  const placed: Rect[] = [];
  const scale = total > 0 ? (room.width * room.height) / total : 0;
  let rest = room;
  let from = 0;
  while (from < sizes.length) {
    const side = Math.min(rest.width, rest.height);
    let end = from + 1;
    let area = sizes[from]! * scale;
    while (end < sizes.length) {
      const more = area + sizes[end]! * scale;
      if (worst(sizes[from]! * scale, sizes[end]! * scale, more, side) > worst(sizes[from]! * scale, sizes[end - 1]! * scale, area, side)) break;
      area = more;
      end += 1;
    }
    rest = layRow(sizes.slice(from, end), scale, area, rest, placed);
    from = end;
  }
  return placed;
}

/** The worst ratio of sides in a row, of its largest and its smallest box. */
function worst(largest: number, smallest: number, area: number, side: number): number {
  const square = side * side;
  if (area <= 0 || smallest <= 0 || square <= 0) return Infinity;
  return Math.max((square * largest) / (area * area), (area * area) / (square * smallest));
}

/** Lays one row along the shorter side of `room`; the room that is left. */
function layRow(sizes: readonly number[], scale: number, area: number, room: Rect, placed: Rect[]): Rect {
  const upright = room.width >= room.height;
  const side = upright ? room.height : room.width;
  const thick = side > 0 ? area / side : 0;
  let at = upright ? room.top : room.left;
  for (const size of sizes) {
    const long = area > 0 ? ((size * scale) / area) * side : 0;
    placed.push(
      upright
        ? { left: room.left, top: at, width: thick, height: long }
        : { left: at, top: room.top, width: long, height: thick },
    );
    at += long;
  }
  return upright
    ? { ...room, left: room.left + thick, width: Math.max(0, room.width - thick) }
    : { ...room, top: room.top + thick, height: Math.max(0, room.height - thick) };
}

function sum(values: readonly number[]): number {
  return values.reduce((all, one) => all + one, 0);
}

/** The innermost box at a point, or -1. */
export function boxAt({ rects }: Places, x: number, y: number): number {
  // Children stand after their parents.
  for (let at = rects.length - 1; at >= 0; at--) {
    const { left, top, width, height } = rects[at]!;
    if (x >= left && x < left + width && y >= top && y < top + height) return at;
  }
  return -1;
}

export type Move = "in" | "out" | "next" | "before";

/** Where a key leads from a box. */
export function moved(boxes: readonly Box[], at: number, move: Move): number {
  if (at < 0) return boxes.length > 1 ? 1 : 0;
  if (move === "out") return boxes[at]?.parent ?? 0;
  if (move === "in") {
    const child = boxes.findIndex(({ parent }, index) => index > 0 && parent === at);
    return child < 0 ? at : child;
  }
  const parent = boxes[at]!.parent;
  const step = move === "next" ? 1 : -1;
  for (let other = at + step; other > 0 && other < boxes.length; other += step) {
    if (boxes[other]!.parent === parent) return other;
  }
  return at;
}
