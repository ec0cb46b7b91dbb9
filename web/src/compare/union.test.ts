import assert from "node:assert/strict";
import { test } from "node:test";
import { Columns, type QueryResponse } from "../engine/slab.ts";
import { pathTo } from "../flame/tree.ts";
import type { CompareFlameResponse } from "../generated/responses.ts";
import { unionOf } from "./union.ts";

/** root(10, 12): a(6, 0), b(4, 4): c(1, 3); d(0, 8). */
function response(): QueryResponse<CompareFlameResponse> {
  const f64 = Float64Array.of(10, 6, 4, 1, 0, 12, 0, 4, 3, 8);
  const u32 = Uint32Array.of(0, 0, 0, 2, 0, 0, 1, 2, 3, 4);
  const buffer = new ArrayBuffer(80 + 40 + 8 + 8);
  new Float64Array(buffer, 0, 10).set(f64);
  new Uint32Array(buffer, 80, 10).set(u32);
  new Uint8Array(buffer, 120, 5).set([4, 1, 4, 2, 0]);
  const columns = new Columns(buffer, 0, {
    before: { type: "f64", at: 0, len: 5 },
    after: { type: "f64", at: 40, len: 5 },
    parent: { type: "u32", at: 80, len: 5 },
    name: { type: "u32", at: 100, len: 5 },
    status: { type: "u8", at: 120, len: 5 },
    more: { type: "u8", at: 128, len: 5 },
  });
  return {
    names: ["<toplevel>", "a", "b", "c", "d"],
    statuses: ["new", "gone", "grown", "shrunk", "same"],
    before: 10,
    after: 12,
    columns,
  };
}

for (const [width, order] of [
  ["both", "b d a"],
  ["before", "a b d"],
  ["after", "d b a"],
] as const) {
  test(`siblings stand heaviest first by ${width}, each with its own figures`, () => {
    const given = response();
    const union = unionOf(given, width);
    const names = Array.from(union.tree.entity, (entity) => given.names[entity]!);
    assert.equal(names.slice(1, 4).join(" "), order);
    const of = (name: string) => names.indexOf(name);
    assert.deepEqual([union.before[of("a")], union.after[of("a")], union.status[of("a")]], [6, 0, "gone"]);
    assert.deepEqual([union.before[of("d")], union.after[of("d")], union.status[of("d")]], [0, 8, "new"]);
    assert.deepEqual([union.before[of("c")], union.after[of("c")], union.status[of("c")]], [1, 3, "grown"]);
    assert.deepEqual(
      pathTo(union.tree, of("c")).map((box) => names[box]),
      ["<toplevel>", "b", "c"],
    );
  });
}
