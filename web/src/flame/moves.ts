/** Where the arrow keys lead from a box: up and down along calls, sideways along the row. */
import type { Box } from "./rows.ts";
import { treeOf, type Scene } from "./scene.ts";
import { rowOf, type Tree } from "./tree.ts";

export type Move = "up" | "down" | "left" | "right";

/** The box one step away, or `box` itself at an edge. */
export function moved(scene: Scene, box: Box, move: Move): Box {
  if (move === "left" || move === "right") return sideways(scene, box, move === "left" ? -1 : 1);
  const towardsCallees = (move === "up") === (scene.rows.orientation === "flame");
  return towardsCallees ? inward(scene, box) : outward(scene, box);
}

function sideways(scene: Scene, box: Box, step: number): Box {
  const tree = treeOf(scene, box.part);
  if (!tree) return box;
  const row = rowOf(tree, box.at);
  const at = box.at + step;
  return at >= tree.rowStart[row]! && at < tree.rowStart[row + 1]! ? { part: box.part, at } : box;
}

/** One step towards what was called: the heaviest callee, or back from a caller. */
function inward(scene: Scene, box: Box): Box {
  const last = scene.rows.focus - 1;
  switch (box.part) {
    case "callees":
      return heaviest(scene.callees, box.at, "callees") ?? box;
    case "focus":
      if (box.at < last) return { part: "focus", at: box.at + 1 };
      return heaviest(scene.callees, 0, "callees") ?? box;
    case "callers":
      return back(scene.callers, box.at, "callers", 0);
  }
}

/** One step towards who called. */
function outward(scene: Scene, box: Box): Box {
  switch (box.part) {
    case "callers":
      return heaviest(scene.callers, box.at, "callers") ?? box;
    case "focus":
      if (box.at > 0) return { part: "focus", at: box.at - 1 };
      return heaviest(scene.callers, 0, "callers") ?? box;
    case "callees":
      return back(scene.callees, box.at, "callees", scene.rows.focus - 1);
  }
}

/** Siblings stand heaviest first. */
function heaviest(tree: Tree | null, at: number, part: "callers" | "callees"): Box | null {
  if (!tree || tree.size === 0) return null;
  const child = tree.firstChild[at]!;
  return child < tree.firstChild[at + 1]! ? { part, at: child } : null;
}

function back(tree: Tree | null, at: number, part: "callers" | "callees", focus: number): Box {
  const above = tree ? tree.parent[at]! : 0;
  return above === 0 ? { part: "focus", at: focus } : { part, at: above };
}

/** The box to begin with: the last function of the focus. */
export function firstBox(scene: Scene): Box {
  return { part: "focus", at: scene.rows.focus - 1 };
}

/** How many calls away from the focus a box is, and on which side, in words. */
export function whereabouts(scene: Scene, box: Box): string {
  const tree = treeOf(scene, box.part);
  if (!tree) return "in focus";
  const depth = rowOf(tree, box.at);
  const calls = depth === 1 ? "call" : "calls";
  return `${depth} ${calls} ${box.part === "callers" ? "before" : "after"} the focus`;
}
