import assert from "node:assert/strict";
import { test } from "node:test";
import type { BoxRow } from "../../generated/responses.ts";
import { sceneOf } from "./scene.ts";

const box = (parent: number, name: string, retained: number): BoxRow => ({
  parent,
  name,
  retained,
  node: null,
  what: "block",
  own: 0,
  blocks: 1,
});

test("boxes hang below their parents, as wide as what they retain", () => {
  // Depth first, as the engine may send them.
  const scene = sceneOf([box(0, "all", 100), box(0, "a", 60), box(1, "x", 50), box(0, "b", 40), box(3, "y", 10)]);
  const tree = scene.callees!;
  assert.equal(scene.rows.callees, 2);
  assert.equal(scene.width, 100);
  const named = Array.from({ length: tree.size }, (_, at) => [
    scene.label("callees", at),
    tree.left[at],
    tree.right[at],
  ]);
  assert.deepEqual(named, [
    ["all", 0, 100],
    ["a", 0, 60],
    ["b", 60, 100],
    ["x", 0, 50],
    ["y", 60, 70],
  ]);
  assert.equal(scene.calleeColours.length, 5);
});

test("nothing is a scene, too", () => {
  assert.equal(sceneOf([]).width, 0);
});
