/** From match to match of a search, in the order of rows and from left to right. */
import { sameBox, type Scene } from "./scene.ts";
import type { Box } from "./rows.ts";
import type { Tree } from "./tree.ts";

/** The boxes of a scene that match, the callees' before the callers'. */
export function matches(scene: Scene, entities: ReadonlySet<number>): Box[] {
  const of = (part: "callees" | "callers", tree: Tree | null): Box[] => {
    const found: Box[] = [];
    // The first box is the end of the focus.
    for (let at = 1; at < (tree?.size ?? 0); at++) if (entities.has(tree!.entity[at]!)) found.push({ part, at });
    return found;
  };
  return [...of("callees", scene.callees), ...of("callers", scene.callers)];
}

/** Which of these the selected box is; -1 if none. */
export const matchAt = (all: readonly Box[], selected: Box | null): number =>
  all.findIndex((box) => sameBox(box, selected));

/** The match after or before the selected box, around the ends. */
export function nextMatch(all: readonly Box[], selected: Box | null, step: 1 | -1): Box | null {
  const at = matchAt(all, selected);
  if (at < 0) return all.at(step > 0 ? 0 : -1) ?? null;
  return all[(at + step + all.length) % all.length] ?? null;
}
