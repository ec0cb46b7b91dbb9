/**
 * Keeps the view, and the selection, where they were when other trees come: a filter has changed,
 * the recording has grown, or more detail has arrived. Boxes are recognised by their path.
 */
import { rowShowing, type Box, type Part } from "./rows.ts";
import { treeOf, type Scene } from "./scene.ts";
import { deepestCovering, follow, pathTo, type Tree } from "./tree.ts";
import type { Viewport } from "./viewport.ts";

/** A box as functions and sites from the focus on. */
export interface BoxPath {
  readonly part: Part;
  /** Position in the focus, for a box there. */
  readonly at: number;
  readonly entities: readonly number[];
}

export function pathOf(scene: Scene, box: Box): BoxPath {
  const tree = treeOf(scene, box.part);
  const entities = tree ? pathTo(tree, box.at).map((step) => tree.entity[step]!) : [];
  return { part: box.part, at: box.at, entities };
}

/** The box with that path, or null where there is none. */
export function find(scene: Scene, path: BoxPath): Box | null {
  if (path.part === "focus") return path.at < scene.rows.focus ? { part: "focus", at: path.at } : null;
  const tree = treeOf(scene, path.part);
  const at = tree ? follow(tree, path.entities) : -1;
  return at < 0 ? null : { part: path.part, at };
}

/** What the view shows, said so that another scene can be searched for it. */
export interface Anchor {
  /** The deepest box that is as wide as the screen or wider, where the view is zoomed. */
  readonly path: BoxPath | null;
  /** The view's edges, as shares of that box. */
  readonly from: number;
  readonly to: number;
  /** Rows from the top edge of the screen to the focus. */
  readonly rows: number;
}

export function anchorOf(scene: Scene, view: Viewport): Anchor {
  const rows = focusRow(scene) - view.top;
  const found = view.to - view.from < 0.999 ? covering(scene, view) : null;
  if (!found) return { path: null, from: view.from, to: view.to, rows };
  const { tree, box } = found;
  const [left, width] = [tree.left[box.at]!, tree.bytes[box.at]!];
  return {
    path: pathOf(scene, box),
    from: (view.from * scene.width - left) / width,
    to: (view.to * scene.width - left) / width,
    rows,
  };
}

/** The view of `scene` that shows what `anchor` says, or as much of it as there is. */
export function viewAt(scene: Scene, anchor: Anchor): Viewport {
  const top = focusRow(scene) - anchor.rows;
  if (!anchor.path) return { from: anchor.from, to: anchor.to, top };
  const box = find(scene, anchor.path);
  const tree = box && treeOf(scene, box.part);
  if (!box || !tree || scene.width <= 0) return { from: 0, to: 1, top };
  const [left, width] = [tree.left[box.at]!, tree.bytes[box.at]!];
  return {
    from: (left + anchor.from * width) / scene.width,
    to: (left + anchor.to * width) / scene.width,
    top,
  };
}

/** The deepest box that covers the width of the view: of callees, or else of callers. */
export function covering(scene: Scene, view: Viewport): { tree: Tree; box: Box } | null {
  const [from, to] = [view.from * scene.width, view.to * scene.width];
  for (const part of ["callees", "callers"] as const) {
    const tree = treeOf(scene, part);
    if (!tree || tree.size === 0) continue;
    // Edges that were computed by different ways differ in their last digits.
    const slack = (to - from) * 1e-6;
    const at = deepestCovering(tree, from + slack, to - slack);
    if (at > 0) return { tree, box: { part, at } };
  }
  return null;
}

function focusRow(scene: Scene): number {
  return rowShowing(scene.rows, { part: "focus", depth: 0 });
}
