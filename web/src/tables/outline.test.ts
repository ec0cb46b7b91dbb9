import assert from "node:assert/strict";
import { test } from "node:test";
import { random } from "../flame/trees.testing.ts";
import { lineAt, lineOf, lines, type Branch } from "./outline.ts";

function generated(next: () => number, name: string, depth: number): Branch<string> {
  const count = Math.floor(next() * 7);
  const open = new Map<number, Branch<string>>();
  for (let at = 0; at < count; at++) {
    if (depth < 4 && next() < 0.4) open.set(at, generated(next, `${name}.${at}`, depth + 1));
  }
  return { count, row: (at) => `${name}.${at}`, open };
}

function flattened(branch: Branch<string>): string[] {
  return Array.from({ length: branch.count }, (_, at) => at).flatMap((at) => {
    const below = branch.open.get(at);
    return [branch.row(at)!, ...(below ? flattened(below) : [])];
  });
}

test("lines are those of the flattened outline", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const root = generated(random(seed * 19), "r", 0);
    const all = flattened(root);
    assert.equal(lines(root), all.length);
    all.forEach((name, index) => {
      const line = lineAt(root, index)!;
      assert.equal(line.row, name);
      assert.equal(`r.${line.place.join(".")}`, name);
      assert.equal(lineOf(root, line.place), index);
    });
    assert.equal(lineAt(root, all.length), null);
    assert.equal(lineAt(root, -1), null);
  }
});

test("a place that is not there has no line", () => {
  const root: Branch<string> = { count: 2, row: () => "x", open: new Map() };
  assert.equal(lineOf(root, [5]), -1);
  assert.equal(lineOf(root, [0, 0]), -1);
  assert.equal(lineOf(root, []), -1);
});
