import assert from "node:assert/strict";
import { test } from "node:test";
import type { SnapshotRow } from "../../generated/responses.ts";
import { marksUpTo, nearest, outline, place, positions, stack, withOffHeap } from "./areas.ts";

const taken = (major: number, at: number | null): SnapshotRow => ({
  number: 1,
  label: null,
  live_in_heap: null,
  reason: "major",
  at,
  pause: 0,
  heap: 0,
  live: null,
  blocks: 0,
  file_bytes: 0,
  major,
  minor: 0,
  analysed: true,
  contents: false,
  included: true,
  damage: null,
  readable: true,
});

test("snapshots between the same collections share the room up to the next", () => {
  const all = [taken(3, 1), taken(5, 2), taken(5, 2.5), taken(6, 4)];
  assert.deepEqual(positions(all, "gc"), [3, 5, 5.5, 6]);
  assert.deepEqual(positions(all, "time"), [1, 2, 2.5, 4]);
  assert.deepEqual(positions([taken(0, null), taken(0, null)], "time"), [0, 1]);
});

test("the nearest snapshot is found, also where there is one or none", () => {
  const scale = { from: 0, to: 10, size: 100 };
  assert.equal(nearest(scale, [0, 4, 10], 65), 1);
  assert.equal(nearest(scale, [0, 4, 10], 75), 2);
  assert.equal(nearest(scale, [], 5), -1);
  assert.equal(place({ from: 7, to: 7, size: 80 }, 7), 40);
});

test("areas stand upon each other and add up to the total", () => {
  const areas = stack({
    failed: 0,
    partial: [],
    ready: 2,
    of: 2,
    snapshots: [1, 2],
    total: [60, 100],
    external: [0, 0],
    rest: [10, 20],
    rest_external: [0, 0],
    series: [
      { name: "a", kind: null, bytes: [30, 50], external: [0, 0] },
      { name: "b", kind: null, bytes: [20, 30], external: [0, 0] },
    ],
  });
  assert.deepEqual(
    areas.map(({ upper }) => [...upper]),
    [
      [30, 50],
      [50, 80],
      [60, 100],
    ],
  );
  assert.deepEqual(areas[1]!.lower, areas[0]!.upper);
  assert.equal(
    outline([0, 10], areas[0]!, (size) => 100 - size),
    "M0.0,70.0L10.0,50.0L10.0,100.0L0.0,100.0Z",
  );
  assert.match(
    outline([50], areas[0]!, (size) => 100 - size),
    /^M26\.0,70\.0L74\.0/,
  );
  assert.equal(
    outline([], areas[0]!, () => 0),
    "",
  );
});

test("marks are round and few", () => {
  assert.deepEqual(marksUpTo(100, 4), [32, 64, 96]);
  assert.deepEqual(marksUpTo(1, 4), [1]);
  assert.deepEqual(marksUpTo(0, 4), []);
});

test("off-heap memory is part of the areas", () => {
  const { total, rest, series } = withOffHeap({
    failed: 0,
    partial: [],
    ready: 2,
    of: 2,
    snapshots: [1, 2],
    total: [6, 8],
    external: [30, 90],
    rest: [1, 2],
    rest_external: [0, 10],
    series: [{ name: "images", kind: null, bytes: [5, 6], external: [30, 80] }],
  });
  assert.deepEqual(
    [total, rest, series[0]?.bytes],
    [
      [36, 98],
      [1, 12],
      [35, 86],
    ],
  );
});
