import assert from "node:assert/strict";
import { test } from "node:test";
import type { BoxRow } from "../../generated/responses.ts";
import { boxAt, layOut, moved, type Rect } from "./layout.ts";

const room: Rect = { left: 10, top: 20, width: 600, height: 400 };
const area = ({ width, height }: Rect) => width * height;
const inside = (a: Rect, b: Rect) =>
  a.left >= b.left - 1e-6 &&
  a.top >= b.top - 1e-6 &&
  a.left + a.width <= b.left + b.width + 1e-6 &&
  a.top + a.height <= b.top + b.height + 1e-6;
const apart = (a: Rect, b: Rect) =>
  a.left + a.width <= b.left + 1e-6 ||
  b.left + b.width <= a.left + 1e-6 ||
  a.top + a.height <= b.top + 1e-6 ||
  b.top + b.height <= a.top + 1e-6;

/** Numbers that look random and are always the same. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed >>> 0; ;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}

const box = (parent: number, retained: number): BoxRow => ({
  parent,
  retained,
  node: null,
  name: "",
  what: "block",
  own: 0,
  blocks: 1,
});

test("areas are as the sizes, boxes stay inside and apart", () => {
  const random = numbers(3);
  const next = () => random.next().value as number;
  for (let round = 0; round < 40; round++) {
    const sizes = Array.from({ length: 1 + Math.floor(next() * 40) }, () => Math.exp(next() * 9)).sort((a, b) => b - a);
    const total = sizes.reduce((all, one) => all + one, 0) * (1 + next());
    const { rects } = layOut([box(0, total), ...sizes.map((size) => box(0, size))], room);
    const inner = rects.slice(1);
    inner.forEach((rect, at) => {
      assert.ok(inside(rect, room), `${at} of ${sizes.length} inside`);
      assert.ok(Math.abs(area(rect) / area(room) - sizes[at]! / total) < 1e-9, "its share");
      for (let other = 0; other < at; other++) assert.ok(apart(rect, inner[other]!), `${other} and ${at} apart`);
    });
  }
});

test("nothing and zeros have places, too", () => {
  assert.deepEqual(layOut([], room), { rects: [], nested: [] });
  const zeros = [box(0, 4), box(0, 4), box(0, 0), box(0, 0)];
  for (const rect of layOut(zeros, room).rects) assert.ok(Number.isFinite(area(rect)) && inside(rect, room));
  for (const rect of layOut(zeros, { ...room, width: 0 }).rects) assert.ok(!Number.isNaN(area(rect)));
});

test("children are inside their parents, and the innermost is found", () => {
  const boxes = [box(0, 100), box(0, 70), box(0, 30), box(1, 50), box(1, 10), box(3, 40)];
  const places = layOut(boxes, room);
  boxes.forEach(({ parent }, at) => {
    if (at > 0) assert.ok(inside(places.rects[at]!, places.rects[parent]!), `${at} in ${parent}`);
  });
  const { left, top, width, height } = places.rects[5]!;
  assert.equal(boxAt(places, left + width / 2, top + height / 2), 5);
  assert.equal(boxAt(places, 0, 0), -1);
  assert.deepEqual(places.nested, [true, true, false, true, false, false]);
});

test("keys lead in, out and along", () => {
  const boxes = [box(0, 100), box(0, 70), box(0, 30), box(1, 50), box(1, 10)];
  assert.equal(moved(boxes, -1, "in"), 1);
  assert.equal(moved(boxes, 1, "in"), 3);
  assert.equal(moved(boxes, 3, "next"), 4);
  assert.equal(moved(boxes, 4, "next"), 4);
  assert.equal(moved(boxes, 1, "next"), 2);
  assert.equal(moved(boxes, 2, "before"), 1);
  assert.equal(moved(boxes, 4, "out"), 1);
  assert.equal(moved([box(0, 1)], -1, "in"), 0);
});
