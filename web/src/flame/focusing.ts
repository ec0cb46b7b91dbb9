/** What the focus becomes when a box is taken into it. */
import type { NameBook } from "./names.ts";
import type { Box } from "./rows.ts";
import { treeOf, type Scene } from "./scene.ts";
import { pathTo } from "./tree.ts";

/** What "extend" does with a box, in the words of a button; null where it would do nothing. */
export function extending(box: Box, focus: readonly string[]): string | null {
  if (box.part !== "focus") return "Extend focus";
  if (focus.length === 1) return null;
  return box.at === 0 ? "Focus on it alone" : "Begin the focus here";
}

/**
 * The focus with a box taken into it: callees at its end, callers at its beginning. A box of the
 * focus itself drops its callers, and the first its callees.
 */
export async function extended(
  scene: Scene,
  focus: readonly string[],
  names: NameBook,
  box: Box,
): Promise<readonly string[] | null> {
  if (box.part === "focus") return box.at === 0 ? focus.slice(0, 1) : focus.slice(box.at);
  const tree = treeOf(scene, box.part);
  if (!tree) return null;
  const path = pathTo(tree, box.at).slice(1);
  const found = await names.all(path.map((step) => tree.entity[step]!));
  if (found.length !== path.length) return null;
  const keys = found.map((name) => name.key);
  return box.part === "callees" ? [...focus, ...keys] : [...keys.toReversed(), ...focus];
}
