import assert from "node:assert/strict";
import { test } from "node:test";
import { anchorOf, find, pathOf, viewAt } from "./anchor.ts";
import { firstBox, moved, whereabouts } from "./moves.ts";
import { boxUnder, placeOf } from "./scene.ts";
import { layOut } from "./tree.ts";
import { columnsOf, generated, random, sceneOf, type Node } from "./trees.testing.ts";

test("the view stays on what it showed when the tree around it changes", () => {
  const root = generated(300, random(21));
  const before = sceneOf(layOut(columnsOf(root, 30)));
  const heavy = root.children[1]!;
  const box = find(before, { part: "callees", at: 0, entities: [0, heavy.entity] })!;
  const place = placeOf(before, box);
  const view = { from: place.from, to: place.to, top: place.row - 3 };
  // Everything else doubles.
  const grow = (node: Node): Node => (node === heavy ? node : { ...node, children: node.children.map(grow), bytes: 0 });
  const sum = (node: Node): number => {
    if (node !== heavy) node.bytes = 50 + node.children.reduce((all, child) => all + sum(child), 0);
    return node.bytes;
  };
  const other = grow(root);
  sum(other);
  const after = sceneOf(layOut(columnsOf(other)));
  const again = find(after, pathOf(before, box))!;
  const moved = viewAt(after, anchorOf(before, view));
  const stands = placeOf(after, again);
  assert.ok(Math.abs(moved.from - stands.from) < 1e-9 && Math.abs(moved.to - stands.to) < 1e-9);
  assert.equal(stands.row - moved.top, 3);
});

test("a view that was not zoomed stays whole", () => {
  const before = sceneOf(layOut(columnsOf(generated(100, random(4)))));
  const after = sceneOf(layOut(columnsOf(generated(50, random(8)))));
  const view = viewAt(after, anchorOf(before, { from: 0, to: 1, top: 0 }));
  assert.deepEqual([view.from, view.to], [0, 1]);
});

test("arrow keys go along calls and rows, and back again", () => {
  for (const orientation of ["flame", "icicle"] as const) {
    const callees = layOut(columnsOf(generated(60, random(31))));
    const callers = layOut(columnsOf(generated(60, random(32))));
    const scene = sceneOf(callees, callers, orientation);
    const [inward, outward] = orientation === "flame" ? (["up", "down"] as const) : (["down", "up"] as const);
    const start = firstBox(scene);
    const callee = moved(scene, start, inward);
    assert.deepEqual(callee, { part: "callees", at: 1 });
    assert.deepEqual(moved(scene, callee, outward), start);
    const caller = moved(scene, start, outward);
    assert.deepEqual(caller, { part: "callers", at: 1 });
    assert.deepEqual(moved(scene, caller, inward), start);
    assert.deepEqual(moved(scene, moved(scene, callee, "right"), "left"), callee);
    assert.deepEqual(moved(scene, callee, "left"), callee);
    // Up is up on the screen.
    assert.equal(placeOf(scene, moved(scene, start, "up")).row, placeOf(scene, start).row - 1);
    assert.equal(whereabouts(scene, callee), "1 call after the focus");
  }
});

test("a box is under the point where it is said to stand", () => {
  const scene = sceneOf(layOut(columnsOf(generated(80, random(2)))), layOut(columnsOf(generated(80, random(2)))));
  for (const part of ["callees", "callers"] as const) {
    for (let at = 1; at < 80; at++) {
      const { row, from, to } = placeOf(scene, { part, at });
      assert.deepEqual(boxUnder(scene, row, (from + to) / 2), { part, at });
    }
  }
});
