import assert from "node:assert/strict";
import { test } from "node:test";
import { graft } from "./graft.ts";
import { boxAt, deepestCovering, firstBoxAfter, follow, isCut, layOut, pathTo, rowOf, type Tree } from "./tree.ts";
import { columnsOf, generated, placedSlowly, random, type Node } from "./trees.testing.ts";

function entitiesTo(tree: Tree, box: number): number[] {
  return pathTo(tree, box).map((step) => tree.entity[step]!);
}

test("boxes stand where walking the tree puts them", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const root = generated(1 + seed * 4, random(seed));
    const tree = layOut(columnsOf(root));
    const text = (row: number, left: number, entity: number, bytes: number) => `${row} ${left} ${entity} ${bytes}`;
    const slow = placedSlowly(root).map(({ node, row, left }) => text(row, left, node.entity, node.bytes));
    const fast = Array.from(tree.entity, (entity, box) =>
      text(rowOf(tree, box), tree.left[box]!, entity, tree.bytes[box]!),
    );
    assert.deepEqual(fast.toSorted(), slow.toSorted());
  }
});

test("what is under a point is what walking finds there", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const next = random(seed * 77);
    const root = generated(120, next);
    const tree = layOut(columnsOf(root));
    const slow = placedSlowly(root);
    for (let probe = 0; probe < 60; probe++) {
      const row = Math.floor(next() * (tree.rows + 1));
      const at = next() * root.bytes * 1.05;
      const found = boxAt(tree, row, at);
      const wanted = slow.find((box) => box.row === row && box.left <= at && at < box.left + box.node.bytes);
      assert.equal(
        found < 0 ? null : `${tree.left[found]} ${tree.entity[found]}`,
        wanted ? `${wanted.left} ${wanted.node.entity}` : null,
      );
      if (row < tree.rows) {
        const after = slow.filter((box) => box.row === row && box.left + box.node.bytes > at).length;
        assert.equal(tree.rowStart[row + 1]! - firstBoxAfter(tree, row, at), after);
      }
    }
  }
});

test("a path of entities leads back to its box", () => {
  const tree = layOut(columnsOf(generated(400, random(5))));
  for (let box = 0; box < tree.size; box++) assert.equal(follow(tree, entitiesTo(tree, box)), box);
  assert.equal(follow(tree, [0, 999]), -1);
  assert.equal(follow(tree, []), -1);
});

test("the deepest covering box has no child that covers as well", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const next = random(seed * 13);
    const root = generated(200, next);
    const tree = layOut(columnsOf(root));
    const from = next() * root.bytes;
    const to = from + next() * next() * (root.bytes - from);
    const box = deepestCovering(tree, from, to);
    const covering = Array.from({ length: tree.size }, (_, at) => at).filter(
      (at) => tree.left[at]! <= from && tree.right[at]! >= to,
    );
    assert.equal(rowOf(tree, box), Math.max(...covering.map((at) => rowOf(tree, at))));
  }
});

test("more detail below a box gives the tree that had it from the beginning", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const next = random(seed * 101);
    const root = generated(300, next);
    const coarse = layOut(columnsOf(root, 400));
    const at = Math.floor(next() * coarse.size);
    const path = entitiesTo(coarse, at);
    const node = path
      .slice(1)
      .reduce<Node>((above, entity) => above.children.find((child) => child.entity === entity)!, root);
    const fine = graft(coarse, at, columnsOf(node));
    const box = follow(fine, path);
    assert.equal(isCut(fine, box), false);
    // Everything else keeps its place, and nothing is lost or doubled.
    const text = (tree: Tree, i: number) =>
      `${entitiesTo(tree, i).join(".")} ${tree.left[i]} ${tree.bytes[i]} ${tree.blocks[i]}`;
    const places = new Set(Array.from({ length: fine.size }, (_, i) => text(fine, i)));
    assert.equal(places.size, fine.size);
    for (let i = 0; i < coarse.size; i++) assert.ok(places.has(text(coarse, i)));
    const below = placedSlowly(node).length - placedSlowly(node, 400).length;
    assert.equal(fine.size, coarse.size + below);
  }
});

test("a tree whose child stands before its parent is refused", () => {
  const columns = { ...columnsOf(generated(3, random(1))), parent: Uint32Array.of(0, 2, 0) };
  assert.throws(() => layOut(columns), /box 1 .* before its parent 2/);
});

test("an empty tree and a stack of 100,000 calls are laid out", () => {
  assert.equal(layOut(columnsOf(generated(1, random(1)))).rows, 1);
  const size = 100_000;
  const one = (kind: Float64ArrayConstructor | Float32ArrayConstructor) => new kind(size).fill(1);
  const tree = layOut({
    parent: Uint32Array.from({ length: size }, (_, i) => Math.max(0, i - 1)),
    entity: Uint32Array.from({ length: size }, (_, i) => i),
    bytes: one(Float64Array) as Float64Array,
    blocks: one(Float32Array) as Float32Array,
    lifetime: one(Float32Array) as Float32Array,
    more: new Uint8Array(size),
  });
  assert.equal(tree.rows, size);
  assert.equal(boxAt(tree, size - 1, 0.5), size - 1);
  assert.equal(deepestCovering(tree, 0, 1), size - 1);
  const none = { length: 0 };
  const empty = layOut({
    parent: Uint32Array.from(none),
    entity: Uint32Array.from(none),
    bytes: Float64Array.from(none),
    blocks: Float32Array.from(none),
    lifetime: Float32Array.from(none),
    more: Uint8Array.from(none),
  });
  assert.equal(empty.rows, 0);
  assert.equal(boxAt(empty, 0, 0), -1);
});
