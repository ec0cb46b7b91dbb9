/**
 * More detail below one box: the response for that box alone takes the place of what was there.
 * A box is as heavy in the one as in the other, so nothing on the screen moves.
 */

import { layOut, type Tree, type TreeColumns } from "./tree.ts";

/** The tree with everything below `at` replaced by everything below the root of `detail`. */
export function graft(tree: Tree, at: number, detail: TreeColumns): Tree {
  const kept = new Int32Array(tree.size).fill(-1);
  const source: number[] = [];
  for (let box = 0; box < tree.size; box++) {
    const above = tree.parent[box]!;
    if (box === 0 || (above !== at && kept[above]! >= 0)) {
      kept[box] = source.length;
      source.push(box);
    }
  }
  const stem = source.length;
  const size = stem + Math.max(0, detail.parent.length - 1);
  const columns = {
    parent: new Uint32Array(size),
    entity: new Uint32Array(size),
    bytes: new Float64Array(size),
    blocks: new Float32Array(size),
    lifetime: new Float32Array(size),
    more: new Uint8Array(size),
  };
  for (let i = 0; i < stem; i++) {
    const box = source[i]!;
    columns.parent[i] = box === 0 ? 0 : kept[tree.parent[box]!]!;
    copyBox(tree, box, columns, i);
  }
  if (detail.parent.length > 0) {
    columns.more[kept[at]!] = detail.more[0]!;
  }
  for (let box = 1; box < detail.parent.length; box++) {
    const i = stem + box - 1;
    columns.parent[i] = detail.parent[box]! === 0 ? kept[at]! : stem + detail.parent[box]! - 1;
    copyBox(detail, box, columns, i);
  }
  return layOut(columns);
}

function copyBox(from: TreeColumns, box: number, to: TreeColumns, i: number): void {
  to.entity[i] = from.entity[box]!;
  to.bytes[i] = from.bytes[box]!;
  to.blocks[i] = from.blocks[box]!;
  to.lifetime[i] = from.lifetime[box]!;
  to.more[i] = from.more[box]!;
}
