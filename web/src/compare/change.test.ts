import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast } from "../flame/contrast.testing.ts";
import { amount, changePaints, FOCUS_PAINT, paintOf, signed, changeText } from "./change.ts";

test("every status has a paint, and more difference a stronger one", () => {
  for (const theme of ["light", "dark"] as const) {
    const paints = changePaints(theme);
    assert.equal(paints.length, FOCUS_PAINT + 1);
    for (const status of ["same", "new", "gone", "grown", "shrunk"] as const) {
      for (const [before, after] of [
        [0, 5],
        [5, 0],
        [5, 6],
        [1, 1000],
        [0, 0],
      ] as const) {
        assert.ok(paints[paintOf(status, before, after)]);
      }
    }
  }
  assert.ok(paintOf("grown", 10, 11) < paintOf("grown", 10, 30));
  assert.ok(paintOf("shrunk", 11, 10) < paintOf("shrunk", 30, 10));
  assert.notEqual(paintOf("new", 0, 9), paintOf("grown", 1, 9));
  assert.notEqual(paintOf("grown", 1, 9), paintOf("shrunk", 9, 1));
});

test("names can be read on every paint", () => {
  for (const theme of ["light", "dark"] as const) {
    for (const { fill, text } of changePaints(theme)) {
      assert.ok(contrast(fill, text) >= 4.5, `${theme}: ${text} on ${fill} is ${contrast(fill, text)}`);
    }
  }
});

test("differences have their sign, and words where a share would mislead", () => {
  assert.equal(signed(1536, "none"), "+1.50 KiB");
  assert.equal(signed(-1536, "duration"), "−1.50 KiB/s");
  assert.equal(signed(-0.25, "allocated"), "−25 %");
  assert.equal(signed(0, "none"), "±0");
  assert.equal(amount(0.031, "allocated"), "3.1 %");
  assert.equal(changeText("grown", 100, 135), "+35 %");
  assert.equal(changeText("shrunk", 100, 88), "−12 %");
  assert.equal(changeText("grown", 1, 25), "25 times");
  assert.equal(changeText("new", 0, 25), "new");
  assert.equal(changeText("gone", 25, 0), "gone");
  assert.equal(changeText("same", 25, 26), "uncertain");
  assert.equal(changeText("same", 25, 25), "same");
});
