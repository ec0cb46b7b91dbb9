/** Both parsers of conditions agree: this one, and the engine's, on `crates/profile/tests/conditions.json`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import examples from "../../../crates/profile/tests/conditions.json" with { type: "json" };
import { ConditionError, type Condition } from "./condition.ts";
import { conditionOfDraft, draftOf, newDraft } from "./draft.ts";
import { KINDS } from "./kinds.ts";
import { parseCondition, parseMoment, parseSize, parseTime, tryCondition } from "./parse.ts";
import { printCondition, quoteName } from "./print.ts";
import { describe } from "./description.ts";

interface Example {
  text: string;
  canonical?: string;
  condition?: unknown;
  description?: string;
  error?: { at: number; message: string };
  rust_only?: boolean;
}

const all = examples as Example[];
const good = all.filter(({ error }) => !error);

test("examples are read, printed and described as the engine does", () => {
  assert.ok(good.length > 50);
  for (const { text, canonical, condition, description: words } of good) {
    const read = parseCondition(text);
    assert.deepEqual(read, condition, text);
    assert.equal(printCondition(read), canonical, text);
    assert.equal(describe(read), words, text);
    assert.deepEqual(parseCondition(printCondition(read)), read, text);
  }
});

test("what is wrong is said in the same words at the same place", () => {
  const bad = all.filter(({ error, rust_only }) => error && !rust_only);
  assert.ok(bad.length > 30);
  for (const { text, error } of bad) {
    const read = tryCondition(text);
    assert.ok(read instanceof ConditionError, text);
    assert.deepEqual({ at: read.at, message: read.message }, error, text);
  }
});

test("a condition comes back from its form unchanged", () => {
  for (const { text } of good) {
    const condition: Condition = parseCondition(text);
    // An empty field is one that is not filled in yet.
    if (JSON.stringify(condition).includes('""')) continue;
    assert.deepEqual(conditionOfDraft(draftOf(condition)), condition, text);
  }
});

test("a new form lacks something, and says nothing is wrong", () => {
  for (const { key } of KINDS) {
    const made = conditionOfDraft(newDraft(key));
    if (key === "live") assert.equal("key" in made && printCondition(made), "live:end");
    else assert.deepEqual(made, { index: 0, why: null }, key);
  }
});

test("a form says which of its values is wrong", () => {
  const draft = newDraft("size");
  const wrong = {
    ...draft,
    values: [...draftOf(parseCondition("size:4K")).values, { mode: "from" as const, a: "big", b: "" }],
  };
  assert.deepEqual(conditionOfDraft(wrong), { index: 1, why: '"big" is not a size' });
  const backwards = { ...draft, values: [{ mode: "between" as const, a: "2K", b: "1K" }] };
  assert.deepEqual(conditionOfDraft(backwards), { index: 0, why: "the range ends before it begins" });
});

test("typed values", () => {
  assert.deepEqual(parseMoment(" 1m30s "), { us: 90e6 });
  assert.deepEqual(parseMoment("peak"), "peak");
  assert.equal(parseTime("250ms"), 250e3);
  assert.equal(parseSize("1.5M"), 1.5 * 2 ** 20);
  assert.throws(() => parseTime("1s later"), /unexpected " later"/);
  assert.throws(() => parseSize(""), ConditionError);
});

test("any name can be a condition's value", () => {
  for (const name of ["", "a", "a,b", '"', "\\", '\\"', "~x", "/x/", "a..b", "Stdlib.(..)", "<script>", "été", "a b"]) {
    assert.deepEqual(parseCondition(`in:${quoteName(name)},x`).values, [{ equals: name }, { equals: "x" }], name);
  }
});
