/** The page writes numbers as the terminal does: both are held to `crates/text/tests/rounded.json`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import examples from "../../../crates/text/tests/rounded.json" with { type: "json" };
import { bytes, bytesWithError, count, grouped, percent, seconds } from "./units.ts";

const write: Record<keyof typeof examples, (...numbers: number[]) => string> = {
  bytes: (size = NaN) => bytes(size),
  bytes_with_error: (size = NaN, stderr = NaN) => bytesWithError(size, stderr),
  count: (number = NaN) => count(number),
  grouped: (number = NaN) => grouped(number),
  percent: (share = NaN) => percent(share),
  seconds: (time = NaN) => seconds(time),
};

for (const [kind, cases] of Object.entries(examples) as [keyof typeof examples, (number | string)[][]][]) {
  test(`${kind}: the texts of memtrail report`, () => {
    for (const example of cases) {
      const numbers = example.slice(0, -1) as number[];
      assert.equal(write[kind](...numbers), example.at(-1), numbers.join(" "));
    }
  });
}

test("a difference has its sign", () => {
  assert.equal(bytes(-1.5 * 1024 ** 2), "−1.50 MiB");
});
