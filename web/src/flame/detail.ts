/**
 * More detail where the view is: which box to ask about, and how light its boxes may be. The engine
 * leaves out what would be narrower than half a pixel, and what is too much for one response; after
 * zooming in or scrolling, it would show.
 */
import { contentOf, rowCount, type Part } from "./rows.ts";
import { treeOf, type Scene } from "./scene.ts";
import { deepestCovering, firstBoxAfter, isCut, rowOf, type Tree } from "./tree.ts";
import type { Viewport } from "./viewport.ts";

/** The lightest box that a response should have, as a share of what is on the screen. */
export const FINEST = 1 / 2000;
/** Trees larger than this get no more detail. */
const LARGEST = 200_000;
/** What was left out shows where it is at least as wide as so many of the lightest boxes. */
const SHOWS = 6;

/** A box that has been asked about. */
export interface Known {
  readonly part: Part;
  readonly row: number;
  /** Bytes from the left edge. */
  readonly left: number;
  readonly right: number;
  /** Bytes of the lightest box that the response had. */
  readonly lightest: number;
}

export interface DetailRequest {
  readonly part: "callees" | "callers";
  /** The box to ask about. */
  readonly at: number;
  /** The lightest box wanted, as a share of that box. */
  readonly cutoff: number;
  /** What is known once the response has come. */
  readonly known: Known;
}

/** What is looked at: the view, and how many rows of it there are. */
export interface Sight {
  readonly view: Viewport;
  readonly visible: number;
}

/** The detail that is lacking where the view is, if any. */
export function detailRequest(scene: Scene, { view, visible }: Sight, known: readonly Known[]): DetailRequest | null {
  const [from, to] = [view.from * scene.width, view.to * scene.width];
  // Edges that were computed by different ways differ in their last digits.
  const slack = (to - from) * 1e-6;
  const needed = (to - from) * FINEST;
  for (const part of ["callees", "callers"] as const) {
    const tree = treeOf(scene, part);
    if (!tree || tree.size === 0 || tree.size > LARGEST) continue;
    const requestFor = (at: number): DetailRequest => {
      const [left, right] = [tree.left[at]!, tree.right[at]!];
      const wanted = { part, row: rowOf(tree, at), left, right, lightest: needed };
      return { part, at, cutoff: needed / tree.bytes[at]!, known: wanted };
    };
    const near = tooNear(tree, part, from + slack, to - slack, needed, scene.width * FINEST, known);
    if (near >= 0) return requestFor(near);
    const cut = cutInSight(scene, tree, part, { view, visible }, needed, known);
    if (cut >= 0) return requestFor(cut);
  }
  return null;
}

/** The box that fills the view, if its boxes were asked for when it was smaller. */
function tooNear(
  tree: Tree,
  part: Part,
  from: number,
  to: number,
  needed: number,
  first: number,
  known: readonly Known[],
): number {
  const at = deepestCovering(tree, from, to);
  const finest = known
    .filter((box) => box.part === part && box.left <= from && box.right >= to)
    .reduce((least, box) => Math.min(least, box.lightest), first);
  // Asking again for slightly more would not show.
  return needed * 1.5 < finest && isCut(tree, at) ? at : -1;
}

/** The box in sight that lacks most: a response has only so many boxes, and stacks may be deep. */
function cutInSight(
  scene: Scene,
  tree: Tree,
  part: Part,
  { view, visible }: Sight,
  needed: number,
  known: readonly Known[],
): number {
  const [from, to] = [view.from * scene.width, view.to * scene.width];
  let most = needed * SHOWS;
  let found = -1;
  const last = Math.min(rowCount(scene.rows) - 1, Math.ceil(view.top + visible));
  for (let row = Math.max(0, Math.floor(view.top)); row <= last; row++) {
    const content = contentOf(scene.rows, row);
    // Boxes without children at the edge of the screen would have them beyond it.
    const depth = content.part === part ? content.depth : content.part === "focus" ? 0 : -1;
    if (depth < 0) continue;
    const end = tree.rowStart[depth + 1]!;
    for (let at = firstBoxAfter(tree, depth, from); at < end && tree.left[at]! < to; at++) {
      if (tree.more[at] === 0) continue;
      const kids = tree.firstChild[at + 1]! - tree.firstChild[at]!;
      const covered = kids > 0 ? tree.right[tree.firstChild[at + 1]! - 1]! : tree.left[at]!;
      const lacking = tree.right[at]! - covered;
      if (lacking <= most) continue;
      const same = (box: Known): boolean =>
        box.part === part && box.row === depth && box.left === tree.left[at] && box.lightest <= needed * 1.5;
      if (known.some(same)) continue;
      most = lacking;
      found = at;
    }
  }
  return found;
}
