import assert from "node:assert/strict";
import { test } from "node:test";
import { answerAll } from "../filter/examples.ts";
import { elapsedMark, marks, parseWall, timeSteps, wallMark, zoneOffset } from "./axis.ts";
import { shown, typedRange, writeSpan } from "./ranges.ts";
import { rounded, step, timeAt, xOf, zoomed, type Scale } from "./scale.ts";

const scale: Scale = { from: 10, to: 20, width: 1000 };

test("times and pixels are each other's inverse, within the plot", () => {
  for (const x of [0, 1, 333, 1000]) assert.ok(Math.abs(xOf(scale, timeAt(scale, x)) - x) < 1e-9);
  assert.equal(timeAt(scale, -50), 10);
  assert.equal(timeAt(scale, 1e9), 20);
  assert.equal(xOf({ from: 0, to: 0, width: 100 }, 5), 0);
  assert.equal(timeAt({ from: 3, to: 4, width: 0 }, 5), 3);
});

test("a dragged time has no more digits than pixels tell", () => {
  assert.equal(step(scale), 0.01);
  assert.equal(rounded(12.345678, 0.01), 12.35);
  assert.equal(rounded(12.345678, 1), 12);
  assert.equal(rounded(12.345678, 0.005), 12.346);
  assert.equal(rounded(1234.5, 100), 1235);
  assert.equal(rounded(0.123456789, 1e-9), 0.123457);
});

test("zooming keeps what is under the pointer, and stays within the recording", () => {
  const [from, to] = zoomed(scale, 0.5, 12, 100);
  assert.deepEqual([from, to], [11, 16]);
  assert.deepEqual(zoomed(scale, 1000, 12, 100), [0, 100]);
  const [low, high] = zoomed({ from: 90, to: 100, width: 1 }, 2, 99, 100);
  assert.deepEqual([low, high], [80, 100]);
  const [a, b] = zoomed(scale, 1e-12, 15, 100);
  assert.ok(b - a > 0.000999);
});

test("marks stand at multiples of the step, of the wall clock's too", () => {
  assert.deepEqual(marks(0, 60, 15, 0), [0, 15, 30, 45, 60]);
  assert.deepEqual(marks(7, 38, 15, 0), [15, 30]);
  assert.deepEqual(marks(0, 60, 30, 50), [10, 40]);
  assert.ok(marks(0, 1, 1e-9, 0).length <= 1000);
  for (const [index, every] of timeSteps.entries()) assert.ok(index === 0 || every > (timeSteps[index - 1] ?? 0));
});

test("marks are as fine as their step", () => {
  const cases: [number, number, string][] = [
    [0, 15, "0"],
    [0.0002, 0.0001, "0.2 ms"],
    [0.25, 0.05, "0.25 s"],
    [15, 5, "15 s"],
    [60, 15, "1m00s"],
    [75, 15, "1m15s"],
    [62.5, 0.5, "1m02.5s"],
    [120, 60, "2m"],
    [3600, 600, "1h00m"],
    [5400, 1800, "1h30m"],
    [7200, 3600, "2h"],
    [90_000, 3600, "1d01h"],
    [172_800, 86_400, "2d"],
  ];
  for (const [time, every, text] of cases) assert.equal(elapsedMark(time, every), text);
  const noon = new Date(2026, 10, 21, 12, 5, 30).getTime() / 1000;
  assert.equal(wallMark(noon, 60), "12:05");
  assert.equal(wallMark(noon, 5), "12:05:30");
  assert.equal(wallMark(noon + 0.25, 0.05), "12:05:30.25");
  assert.equal(wallMark(noon, 86_400), "21 Nov");
  assert.equal(Math.abs(zoneOffset(noon)) % 900, 0);
});

test("a typed time of day counts from the start, past midnight too", () => {
  const start = new Date(2026, 10, 21, 23, 59, 30).getTime() / 1000;
  assert.equal(parseWall("23:59:40", start), 10);
  assert.equal(parseWall("0:00", start), 30);
  assert.equal(parseWall("00:00:01.5", start), 31.5);
  assert.equal(parseWall("23:59", start), 0);
  for (const text of ["", "12", "25:00", "12:60", "12.5s", "peak"]) assert.equal(parseWall(text, start), null);
});

test("lanes show the conditions of time, and only those that a drag can change are movable", () => {
  answerAll();
  const of = (...conditions: string[]) => shown(conditions, ["live", "collected"], 100, 40);
  assert.equal(of("allocated:1s..2s", "in:a", "nonsense", "-live:end"), null);
  assert.deepEqual(of("live:peak")?.spans, [{ from: 40, to: 40 }]);
  assert.deepEqual(of("live:50%..")?.spans, [{ from: 50, to: null }]);
  assert.deepEqual(of("collected:..end", "live:1s")?.key, "collected");
  const two = of("live:1s..2s,end");
  assert.equal(two?.spans.length, 2);
  assert.equal(two?.range, null);
  const never = of("collected:never");
  assert.deepEqual([never?.never, never?.spans, never?.range], [true, [], null]);
});

test("a dragged span as a condition, and its ends as typed", () => {
  answerAll();
  assert.equal(writeSpan("allocated", { from: 1.5, to: 20 }), "allocated:1.5s..20s");
  assert.equal(writeSpan("live", { from: 3, to: 3 }), "live:3s");
  assert.equal(writeSpan("collected", { from: null, to: 3 }), "collected:..3s");
  assert.equal(writeSpan("allocated", { from: null, to: null }), null);
  const typed = (text: string) => shown([text], ["allocated", "live", "collected"], 1, 1)?.range;
  assert.deepEqual(typed("allocated:40%..peak"), { from: "40%", to: "peak" });
  assert.deepEqual(typed("collected:..3s"), { from: "", to: "3s" });
  assert.deepEqual(typed("live:3s"), { from: "3s", to: "3s" });
  assert.equal(typedRange("live", { from: "", to: "" }), null);
  assert.equal(typedRange("live", { from: "peak", to: "peak" }), "live:peak");
  assert.equal(typedRange("allocated", { from: "", to: "1m" }), "allocated:..1m");
});
