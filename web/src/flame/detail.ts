/**
 * More detail where the view has come near: which box to ask about, and how light its boxes may be.
 * The engine leaves out what would be narrower than half a pixel; after zooming in, that has become
 * wider.
 */
import type { Part } from "./rows.ts";
import { treeOf, type Scene } from "./scene.ts";
import { deepestCovering, isCut } from "./tree.ts";
import type { Viewport } from "./viewport.ts";

/** The lightest box that an answer should have, as a share of what is on the screen. */
export const FINEST = 1 / 2000;
/** Trees larger than this get no more detail. */
const LARGEST = 200_000;

/** A stretch whose boxes are known down to some weight. */
export interface Known {
  readonly part: Part;
  /** Bytes from the left edge. */
  readonly left: number;
  readonly right: number;
  /** Bytes of the lightest box that an answer had. */
  readonly lightest: number;
}

export interface Wish {
  readonly part: "callees" | "callers";
  /** The box to ask about. */
  readonly at: number;
  /** The lightest box wanted, as a share of that box. */
  readonly cutoff: number;
  /** What is known once the answer has come. */
  readonly known: Known;
}

/** The detail that `view` lacks, if any. */
export function wish(scene: Scene, view: Viewport, known: readonly Known[]): Wish | null {
  const [from, to] = [view.from * scene.width, view.to * scene.width];
  const needed = (to - from) * FINEST;
  for (const part of ["callees", "callers"] as const) {
    const tree = treeOf(scene, part);
    if (!tree || tree.size === 0 || tree.size > LARGEST) continue;
    const slack = (to - from) * 1e-6;
    const at = deepestCovering(tree, from + slack, to - slack);
    // Asking again for slightly more would not show.
    const lightest = scene.width * FINEST;
    const finest = known
      .filter((stretch) => stretch.part === part && stretch.left <= from + slack && stretch.right >= to - slack)
      .reduce((least, stretch) => Math.min(least, stretch.lightest), lightest);
    if (needed * 1.5 >= finest || !isCut(tree, at)) continue;
    return {
      part,
      at,
      cutoff: needed / tree.bytes[at]!,
      known: { part, left: tree.left[at]!, right: tree.right[at]!, lightest: needed },
    };
  }
  return null;
}
