import assert from "node:assert/strict";
import { test } from "node:test";
import { rssAt, rssLine } from "./measured.ts";

const memory = {
  seconds: [1, 2, 4],
  rss: [100, 200, 100],
  cpu_seconds: [],
  parts: [],
  advice: [],
  malloc_in_use: null,
  malloc: null,
};

test("resident memory is a line between measurements, and nothing outside of them", () => {
  const heights = [0.5, 1, 1.5, 2, 3, 4, 5].map((time) => rssLine(memory, time));
  assert.deepEqual(heights, [null, 100, 150, 200, 150, 100, null]);
});

test("read out is what was measured last", () => {
  const process = { memory, collections: null };
  const read = [0.5, 1, 1.5, 2, 3, 4, 5].map((time) => rssAt(process, time));
  assert.deepEqual(read, [null, 100, 100, 200, 200, 100, 100]);
  assert.equal(rssAt({ memory: null, collections: null }, 1), null);
  assert.equal(rssAt(null, 1), null);
});
