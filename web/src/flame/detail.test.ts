import assert from "node:assert/strict";
import { test } from "node:test";
import { detailRequest, type Known } from "./detail.ts";
import { graft } from "./graft.ts";
import { layOut, pathTo, type Tree, type TreeColumns } from "./tree.ts";
import { columnsOf, sceneOf, type Node } from "./trees.testing.ts";

test("zooming in wishes for detail once, and what came is enough", () => {
  const root: Node = { entity: 0, bytes: 0, children: [] };
  const branch: Node = { entity: 1, bytes: 0, children: [] };
  for (let i = 0; i < 500; i++) branch.children.push({ entity: 10 + i, bytes: 1, children: [] });
  branch.bytes = 500;
  root.children = [{ entity: 2, bytes: 99_500, children: [] }, branch];
  root.bytes = 100_000;
  const coarse = layOut(columnsOf(root, 50));
  const scene = sceneOf(coarse);
  const view = { from: 0.996, to: 0.999, top: 0 };
  const wanted = detailRequest(scene, { view, visible: 40 }, [])!;
  assert.equal(coarse.entity[wanted.at], 1);
  assert.ok(wanted.cutoff * 500 <= 300 / 2000 + 1e-9);
  const fine = sceneOf(graft(coarse, wanted.at, columnsOf(branch)));
  assert.equal(detailRequest(fine, { view, visible: 40 }, [wanted.known]), null);
});

/** The beginning of a stack, `size` calls deep, from call `first` on. */
function stack(first: number, size: number, depth: number): TreeColumns {
  const shown = Math.min(size, depth - first);
  const ones = { length: shown };
  return {
    parent: Uint32Array.from(ones, (_, i) => Math.max(0, i - 1)),
    entity: Uint32Array.from(ones, (_, i) => first + i),
    bytes: Float64Array.from(ones, () => 1000),
    blocks: Float32Array.from(ones, () => 1),
    lifetime: Float32Array.from(ones, () => 1),
    more: Uint8Array.from(ones, (_, i) => (i === shown - 1 && first + shown < depth ? 1 : 0)),
  };
}

test("scrolling up a stack of 9,982 calls asks for the next calls until all are there", () => {
  const depth = 9_982;
  let tree: Tree = layOut(stack(0, 3_000, depth));
  const known: Known[] = [];
  let requests = 0;
  for (;;) {
    const scene = sceneOf(tree);
    // A flame grows upwards: the first row is the deepest call there is.
    assert.equal(detailRequest(scene, { view: { from: 0, to: 1, top: 500 }, visible: 40 }, known), null);
    const wanted = detailRequest(scene, { view: { from: 0, to: 1, top: 0 }, visible: 40 }, known);
    if (!wanted) break;
    requests++;
    assert.ok(requests < 10);
    known.push(wanted.known);
    assert.equal(pathTo(tree, wanted.at).length, tree.rows);
    tree = graft(tree, wanted.at, stack(tree.entity[wanted.at]!, 3_000, depth));
  }
  assert.equal(tree.rows, depth);
  assert.equal(requests, 3);
});

test("what stays hatched after asking is not asked for again", () => {
  const root: Node = { entity: 0, bytes: 1000, children: [] };
  for (let i = 0; i < 1000; i++) root.children.push({ entity: 1 + i, bytes: 1, children: [] });
  const columns = { ...columnsOf(root, 2), more: Uint8Array.of(1) };
  const scene = sceneOf(layOut(columns));
  const sight = { view: { from: 0, to: 1, top: 0 }, visible: 40 };
  const wanted = detailRequest(scene, sight, [])!;
  assert.equal(wanted.at, 0);
  assert.equal(detailRequest(scene, sight, [wanted.known]), null);
});
