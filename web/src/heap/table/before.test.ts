import assert from "node:assert/strict";
import { test } from "node:test";
import { known } from "./before.ts";

test("roots beyond the largest that are compared are not said to be unchanged", () => {
  const all: [number, number] = [0, 0];
  const largest: [number, number] = [64, 48];
  assert.equal(known(undefined, 40, true, all), 40);
  assert.equal(known(undefined, 40, true, largest), null);
  assert.equal(known(undefined, 4000, true, largest), 4000);
  assert.equal(known(undefined, 4000, false, all), null);
  assert.equal(known(1000, 4000, true, largest), 1000);
  // What is not among the largest before was not nothing.
  assert.equal(known(0, 4000, true, largest), null);
  assert.equal(known(0, 4000, true, all), 0);
});
