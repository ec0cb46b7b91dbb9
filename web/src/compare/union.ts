/** The trees of both sides as one: a box is as wide as both its sides together, or as one of them. */
import type { QueryResponse } from "../engine/slab.ts";
import { layOut, type Tree } from "../flame/tree.ts";
import type { ChangeStatus, CompareFlameResponse } from "../generated/responses.ts";

export type Width = "both" | "before" | "after";

export interface Union {
  readonly tree: Tree;
  /** By box of the tree. */
  readonly before: Float64Array;
  readonly after: Float64Array;
  readonly status: readonly ChangeStatus[];
}

export function unionOf({ columns, statuses }: QueryResponse<CompareFlameResponse>, width: Width): Union {
  const before = columns.f64("before");
  const after = columns.f64("after");
  const size = before.length;
  const status = columns.u8("status");
  const bytes = Float64Array.from({ length: size }, (_, box) => {
    if (width === "both") return before[box]! + after[box]!;
    return width === "before" ? before[box]! : after[box]!;
  });
  const parent = columns.u32("parent");
  const order = heaviestFirst(parent, bytes);
  const place = new Uint32Array(size);
  order.forEach((box, at) => (place[box] = at));
  const name = columns.u32("name");
  const more = columns.u8("more");
  const tree = layOut({
    parent: order.map((box) => place[parent[box]!]!),
    entity: order.map((box) => name[box]!),
    bytes: Float64Array.from(order, (box) => bytes[box]!),
    blocks: new Float32Array(size),
    lifetime: new Float32Array(size),
    more: Uint8Array.from(order, (box) => more[box]!),
  });
  const origin = tree.origin.map((at) => order[at]!);
  return {
    tree,
    before: Float64Array.from(origin, (box) => before[box]!),
    after: Float64Array.from(origin, (box) => after[box]!),
    status: Array.from(origin, (box) => statuses[status[box]!] ?? "same"),
  };
}

/** The boxes row by row, in a row heaviest first: parents still stand before children. */
function heaviestFirst(parent: Uint32Array, bytes: Float64Array): Uint32Array {
  const row = new Uint32Array(parent.length);
  for (let box = 1; box < row.length; box++) row[box] = row[parent[box]!]! + 1;
  return Uint32Array.from(row, (_, box) => box).sort((a, b) => row[a]! - row[b]! || bytes[b]! - bytes[a]! || a - b);
}
