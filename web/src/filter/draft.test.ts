/** Forms write what the engine reads: its answers for `crates/profile/tests/conditions.json` come back unchanged. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { draftOf, newDraft, textOfDraft, valueAt, type Draft } from "./draft.ts";
import { all } from "./examples.ts";
import { KINDS } from "./kinds.ts";
import { microseconds, writeRange, writeSeconds, writeValue } from "./write.ts";

test("a condition comes back from its form unchanged", () => {
  let compared = 0;
  for (const { condition, canonical } of all) {
    // An empty field is one that is not filled in yet.
    if (!condition || condition.values.some(({ mode, a }) => mode !== "never" && a === "")) continue;
    assert.equal(textOfDraft(draftOf(condition)), canonical);
    compared += 1;
  }
  assert.ok(compared > 100);
});

test("a new form lacks something, and has no text", () => {
  for (const { key } of KINDS) assert.equal(textOfDraft(newDraft(key)), key === "live" ? "live:end" : null);
});

test("an error belongs to the value that has its byte", () => {
  const value = (a: string) => ({ mode: "from" as const, a, b: "" });
  const draft: Draft = { key: "size", not: true, values: [value("4K"), value(" é "), value("big")] };
  assert.equal(textOfDraft(draft), "-size:4K..,é..,big..");
  const at = [6, 9, 11, 14, 16, 99].map((byte) => valueAt(draft, byte));
  assert.deepEqual(at, [0, 0, 1, 1, 2, 2]);
});

test("fields of numbers are trimmed, names are not", () => {
  const draft: Draft = { key: "size", not: false, values: [{ mode: "between", a: " 1K", b: "2K " }] };
  assert.equal(textOfDraft(draft), "size:1K..2K");
  assert.equal(textOfDraft({ key: "in", not: false, values: [{ mode: "equals", a: " x", b: "" }] }), "in: x");
});

test("the page's own ranges have one spelling", () => {
  assert.equal(writeRange("allocated", { from: 1_500_000, to: 20_000_000 }), "allocated:1.5s..20s");
  assert.equal(writeRange("lifetime", { from: null, to: 1 }), "lifetime:..0.000001s");
  assert.equal(writeRange("live", { from: 0, to: 0 }), "live:0s");
  assert.equal(writeSeconds(microseconds(86_400.25)), "86400.25s");
  assert.equal(writeValue({ mode: "regex", a: "a/b\\/c", b: "" }), "/a\\/b\\/c/");
});
