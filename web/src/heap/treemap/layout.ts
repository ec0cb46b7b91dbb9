/** Where the boxes of a treemap stand: squarified, nested, with room for a box's name above what is in it. */
import { hierarchy, treemap, type HierarchyRectangularNode } from "d3-hierarchy";
import type { BoxRow } from "../../generated/responses.ts";

export interface Rect {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Boxes with places, by index into the response; those too small to be seen have no area. */
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
export function layOut(boxes: readonly BoxRow[], whole: Rect): Places {
  const rects: Rect[] = boxes.map(() => NOTHING);
  const nested: boolean[] = boxes.map(() => false);
  if (boxes.length === 0) return { rects, nested };
  const children = childrenOf(boxes);
  const root = hierarchy(0, (at) => children[at]!);
  // What a box is itself stays free at the end of it.
  root.each((node) => Object.assign(node, { value: boxes[node.data]!.retained }));
  const edge = (node: HierarchyRectangularNode<number>): number => (node.depth === 0 ? 0 : EDGE);
  const laid = treemap<number>()
    .size([whole.width, whole.height])
    .paddingLeft(edge)
    .paddingRight(edge)
    .paddingBottom(edge)
    .paddingTop((node) => (node.depth === 0 ? 0 : node.y1 - node.y0 > 2 * TITLE ? TITLE : EDGE))(root);
  laid.eachBefore((node) => {
    const at = node.data;
    const isShown = node.parent === null || nested[node.parent.data]!;
    if (!isShown) return;
    const { x0, x1, y0, y1 } = node;
    rects[at] = { left: whole.left + x0, top: whole.top + y0, width: x1 - x0, height: y1 - y0 };
    nested[at] = node.children !== undefined && hasRoom(node);
  });
  return { rects, nested };
}

/** Whether what is in a box can be seen. */
function hasRoom({ x0, x1, y0, y1, depth }: HierarchyRectangularNode<number>): boolean {
  const [width, height] = [x1 - x0, y1 - y0];
  if (width < LEAST || height < LEAST) return false;
  const title = depth === 0 ? 0 : height > 2 * TITLE ? TITLE + EDGE : 2 * EDGE;
  return depth === 0 || (width - 2 * EDGE >= LEAST && height - title >= LEAST);
}

function childrenOf(boxes: readonly BoxRow[]): number[][] {
  const children: number[][] = boxes.map(() => []);
  boxes.forEach(({ parent }, at) => {
    if (at > 0) children[parent]!.push(at);
  });
  return children;
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
export function moved(boxes: readonly BoxRow[], at: number, move: Move): number {
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
