/** What a flame graph shows, ready to be drawn: trees with places, and a look for every box. */
import { contentOf, rowCount, rowShowing, type Box, type Part, type Rows } from "./rows.ts";
import { boxAt, rowOf, type Tree } from "./tree.ts";

/** A function of the focus. */
export interface FocusBox {
  readonly label: string;
  readonly colour: number;
}

export interface Scene {
  readonly rows: Rows;
  readonly callers: Tree | null;
  readonly callees: Tree | null;
  /** Outermost first. */
  readonly focus: readonly FocusBox[];
  /** How much the focus is, written at its right end. */
  readonly sum: string;
  /** What the whole width stands for. */
  readonly width: number;
  /** In the order of time: what the width is. Boxes then have places of their own. */
  readonly timed?: "time" | "allocation" | undefined;
  /** Index of a paint for every box of the trees. */
  readonly callerColours: Uint8Array;
  readonly calleeColours: Uint8Array;
  /** What is written in a box of a tree. Asked only for boxes wide enough. */
  readonly label: (part: Part, at: number) => string;
}

export function treeOf(scene: Scene, part: Part): Tree | null {
  if (part === "callers") return scene.callers;
  return part === "callees" ? scene.callees : null;
}

export function coloursOf(scene: Scene, part: Part): Uint8Array {
  return part === "callers" ? scene.callerColours : scene.calleeColours;
}

/** Where a box stands: its row from the top, its edges as shares of the width. */
export function placeOf(scene: Scene, box: Box): { row: number; from: number; to: number } {
  const tree = treeOf(scene, box.part);
  if (!tree || scene.width <= 0) {
    return { row: rowShowing(scene.rows, { part: "focus", depth: box.at }), from: 0, to: 1 };
  }
  return {
    row: rowShowing(scene.rows, { part: box.part, depth: rowOf(tree, box.at) }),
    from: tree.left[box.at]! / scene.width,
    to: tree.right[box.at]! / scene.width,
  };
}

/** The box of row `row` at share `at` of the width. */
export function boxUnder(scene: Scene, row: number, at: number): Box | null {
  if (row < 0 || row >= rowCount(scene.rows) || at < 0 || at >= 1) return null;
  const { part, depth } = contentOf(scene.rows, row);
  const tree = treeOf(scene, part);
  if (!tree) return { part, at: depth };
  const found = boxAt(tree, depth, at * scene.width);
  return found < 0 ? null : { part, at: found };
}

export function sameBox(a: Box | null, b: Box | null): boolean {
  return a === b || (a !== null && b !== null && a.part === b.part && a.at === b.at);
}
