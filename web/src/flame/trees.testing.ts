/** Trees for tests: generated from a seed, and laid out slowly, by recursion over objects. */
import type { Orientation } from "./rows.ts";
import type { Scene } from "./scene.ts";
import type { Tree, TreeColumns } from "./tree.ts";

/** Numbers between 0 and 1 that are the same in every run. */
export function random(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

export interface Node {
  entity: number;
  bytes: number;
  children: Node[];
}

/** A tree of about `size` boxes in which siblings differ in entity and weight is whole bytes. */
export function generated(size: number, next: () => number): Node {
  const root: Node = { entity: 0, bytes: 0, children: [] };
  const all = [root];
  while (all.length < size) {
    const parent = all[Math.floor(next() ** 0.5 * all.length)]!;
    const entity = 1 + Math.floor(next() * 40);
    if (parent.children.some((child) => child.entity === entity)) continue;
    const node = { entity, bytes: 0, children: [] };
    parent.children.push(node);
    all.push(node);
  }
  for (const node of all.toReversed()) {
    const below = node.children.reduce((sum, child) => sum + child.bytes, 0);
    node.bytes = below + Math.floor(next() * 100) + (node.children.length === 0 ? 1 : 0);
    node.children.sort((a, b) => b.bytes - a.bytes);
  }
  return root;
}

/** As the engine sends it, depth first; boxes below `cutoff` bytes are left out. */
export function columnsOf(root: Node, cutoff = 0): TreeColumns {
  const rows: { node: Node; parent: number; more: number }[] = [];
  const visit = (node: Node, parent: number): void => {
    const kept = node.children.filter((child) => child.bytes >= cutoff);
    const at = rows.push({ node, parent, more: kept.length < node.children.length ? 1 : 0 }) - 1;
    for (const child of kept) visit(child, at);
  };
  visit(root, 0);
  return {
    parent: Uint32Array.from(rows, ({ parent }) => parent),
    entity: Uint32Array.from(rows, ({ node }) => node.entity),
    bytes: Float64Array.from(rows, ({ node }) => node.bytes),
    blocks: Float32Array.from(rows, ({ node }) => node.bytes / 8),
    lifetime: Float32Array.from(rows, () => 1),
    more: Uint8Array.from(rows, ({ more }) => more),
  };
}

export interface Placed {
  node: Node;
  row: number;
  left: number;
}

/** Every box with its place, found by walking. */
export function placedSlowly(root: Node, cutoff = 0): Placed[] {
  const out: Placed[] = [];
  const visit = (node: Node, row: number, left: number): void => {
    out.push({ node, row, left });
    for (const child of node.children) {
      if (child.bytes < cutoff) continue;
      visit(child, row + 1, left);
      left += child.bytes;
    }
  };
  visit(root, 0, 0);
  return out;
}

/** A scene of trees without names and colours, around a focus of one function. */
export function sceneOf(callees: Tree, callers: Tree | null = null, orientation: Orientation = "flame"): Scene {
  return {
    rows: { orientation, callers: callers ? callers.rows - 1 : 0, focus: 1, callees: callees.rows - 1 },
    callees,
    callers,
    focus: [{ label: "focus", colour: 0 }],
    sum: "",
    width: callees.bytes[0]!,
    calleeColours: new Uint8Array(callees.size),
    callerColours: new Uint8Array(callers?.size ?? 0),
    label: () => "",
  };
}
