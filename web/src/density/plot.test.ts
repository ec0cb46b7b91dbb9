import assert from "node:assert/strict";
import { test } from "node:test";
import { random } from "../flame/trees.testing.ts";
import { cellAt, decades, outlineOf, stretchesOf, xOf, yOf, type Bins, type Frame } from "./plot.ts";
import { extentOf, ramp, stepOf } from "./ramp.ts";

const bins: Bins = {
  times: Array.from({ length: 129 }, (_, at) => at / 4),
  lifetimes: Array.from({ length: 65 }, (_, at) => 1e-6 * 10 ** (at / 8)),
};
const frame: Frame = { width: 900, height: 500, left: 60, right: 10, top: 8, bottom: 24 };

test("a point is in the bin whose edges are around it", () => {
  const next = random(17);
  for (let i = 0; i < 300; i++) {
    const x = frame.left + next() * (frame.width - frame.left - frame.right);
    const y = 40 + next() * (500 - 24 - 40);
    const cell = cellAt(frame, bins, x, y);
    assert.ok(xOf(frame, bins, cell.time) <= x && x < xOf(frame, bins, cell.time + 1) + 1e-9);
    assert.ok(cell.lifetime !== "never");
    assert.ok(yOf(frame, bins, cell.lifetime) >= y - 1e-9 && y > yOf(frame, bins, cell.lifetime + 1) - 1e-9);
  }
  assert.deepEqual(cellAt(frame, bins, -50, 5), { time: 0, lifetime: "never" });
  assert.deepEqual(cellAt(frame, bins, 5000, 5000), { time: 127, lifetime: 0 });
});

test("a selection says which times and lifetimes it covers, whichever way it was drawn", () => {
  const there = { from: { time: 4, lifetime: 8 }, to: { time: 7, lifetime: 15 } };
  const back = { from: there.to, to: there.from };
  assert.deepEqual(stretchesOf(bins, there), { allocated: [1, 2], lifetime: [bins.lifetimes[8], bins.lifetimes[16]] });
  assert.deepEqual(stretchesOf(bins, back), stretchesOf(bins, there));
  assert.deepEqual(outlineOf(frame, bins, back), outlineOf(frame, bins, there));
  const strip = { from: { time: 0, lifetime: "never" as const }, to: { time: 3, lifetime: 9 } };
  assert.deepEqual(stretchesOf(bins, strip), { allocated: [0, 1], lifetime: null });
  const left = { from: { time: 0, lifetime: 60 }, to: { time: 0, lifetime: "never" as const } };
  assert.equal(stretchesOf(bins, left).lifetime?.[1], bins.lifetimes[64]);
});

test("decades stand at their bins", () => {
  const all = decades(bins);
  assert.deepEqual(
    all.map(({ lifetime }) => lifetime),
    [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100],
  );
  for (const [index, { at }] of all.entries()) assert.ok(Math.abs(at - index * 8) < 1e-6);
  assert.deepEqual(decades({ times: [0, 1], lifetimes: [1, 1] }), []);
  assert.deepEqual(
    decades({ times: [0, 1], lifetimes: [0, 1e-6, 1e-5, 1e-4] }).map(({ at }) => Math.round(at)),
    [1, 2, 3],
  );
});

test("more bytes never look like less, and none look like none", () => {
  const extent = { lightest: 1e-4, heaviest: 1 };
  assert.equal(stepOf(0, extent), -1);
  assert.equal(stepOf(1, { lightest: 0, heaviest: 0 }), -1);
  let last = 0;
  for (let bytes = 1e-9; bytes <= 1; bytes *= 1.3) {
    const step = stepOf(bytes, extent);
    assert.ok(step >= last);
    last = step;
  }
  assert.equal(stepOf(1, extent), ramp("light").length - 1);
  assert.equal(stepOf(1e-4, extent), 0);
});

test("the ramp reaches from the lightest bin to the heaviest", () => {
  const extent = extentOf(Float32Array.of(0, 8, 2), Float32Array.of(0, 0, 64));
  assert.deepEqual(extent, { lightest: 2, heaviest: 64 });
  assert.equal(extentOf(Float32Array.of(1e-9, 1)).lightest, 1e-5);
  assert.deepEqual(extentOf(Float32Array.of(0)), { lightest: 0, heaviest: 0 });
  assert.equal(stepOf(5, extentOf(Float32Array.of(5))), ramp("dark").length - 1);
});
