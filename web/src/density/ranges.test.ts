import assert from "node:assert/strict";
import { test } from "node:test";
import { answerAll } from "../filter/examples.ts";
import { conditionsOf, selectedRanges } from "./ranges.ts";
import { stretchesOf, type Bins } from "./plot.ts";

const bins: Bins = { times: [0, 1, 2, 3, 4], lifetimes: [0, 1e-6, 1e-4, 1e-2, 1] };

test("a stretch of the plot becomes conditions, and conditions the same stretch", () => {
  const selected = { from: { time: 1, lifetime: 1 }, to: { time: 2, lifetime: 2 } };
  const conditions = conditionsOf(bins, stretchesOf(bins, selected));
  assert.deepEqual(conditions, ["allocated:1s..3s", "lifetime:0.000001s..0.01s"]);
  assert.deepEqual(selectedRanges(["in:List.map", ...conditions]), {
    allocated: [1, 3],
    lifetime: [1e-6, 0.01],
    rest: ["in:List.map"],
  });
});

test("conditions have round numbers, and keep all of what was selected", () => {
  const fine: Bins = { times: [0, 20.253906, 34.199219, 42.5], lifetimes: [0, 0.000955123, 0.526371, 9] };
  const conditions = conditionsOf(fine, { allocated: [20.253906, 34.199219], lifetime: [0.000955123, 0.526371] });
  assert.deepEqual(conditions, ["allocated:20s..35s", "lifetime:0.000955s..0.527s"]);
});

test("edges of the plot are open, and the strip is what was never collected", () => {
  const whole = { from: { time: 0, lifetime: 0 }, to: { time: 3, lifetime: 3 } };
  assert.deepEqual(conditionsOf(bins, stretchesOf(bins, whole)), []);
  const low = { from: { time: 0, lifetime: 0 }, to: { time: 3, lifetime: 1 } };
  assert.deepEqual(conditionsOf(bins, stretchesOf(bins, low)), ["lifetime:..0.0001s"]);
  const never = { from: { time: 2, lifetime: "never" as const }, to: { time: 3, lifetime: 1 } };
  assert.deepEqual(conditionsOf(bins, stretchesOf(bins, never)), ["allocated:2s..4s", "collected:never"]);
});

test("conditions that are no single stretch stay in the filter", () => {
  answerAll();
  const filter = ["-allocated:1s..2s", "allocated:1s..2s,3s..4s", "allocated:peak..", "lifetime:soon", "size:4K.."];
  assert.deepEqual(selectedRanges(filter), { allocated: null, lifetime: null, rest: filter });
  assert.deepEqual(selectedRanges(["lifetime:1s..", "lifetime:..2s"]).rest, ["lifetime:..2s"]);
});
