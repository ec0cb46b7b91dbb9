/** Both parsers of chips agree: this one, and the engine's, on `crates/profile/tests/chips.json`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import examples from "../../../crates/profile/tests/chips.json" with { type: "json" };
import { ChipError, type Chip } from "./chip.ts";
import { chipOfDraft, draftOf, newDraft } from "./draft.ts";
import { KINDS } from "./kinds.ts";
import { parseChip, parseMoment, parseSize, parseTime, tryChip } from "./parse.ts";
import { printChip, quoteName } from "./print.ts";
import { sentence } from "./sentence.ts";

interface Example {
  text: string;
  canonical?: string;
  chip?: unknown;
  sentence?: string;
  error?: { at: number; message: string };
  rust_only?: boolean;
}

const all = examples as Example[];
const good = all.filter(({ error }) => !error);

test("examples are read, printed and told as the engine does", () => {
  assert.ok(good.length > 50);
  for (const { text, canonical, chip, sentence: words } of good) {
    const read = parseChip(text);
    assert.deepEqual(read, chip, text);
    assert.equal(printChip(read), canonical, text);
    assert.equal(sentence(read), words, text);
    assert.deepEqual(parseChip(printChip(read)), read, text);
  }
});

test("what is wrong is said in the same words at the same place", () => {
  const bad = all.filter(({ error, rust_only }) => error && !rust_only);
  assert.ok(bad.length > 30);
  for (const { text, error } of bad) {
    const read = tryChip(text);
    assert.ok(read instanceof ChipError, text);
    assert.deepEqual({ at: read.at, message: read.message }, error, text);
  }
});

test("a chip comes back from its form unchanged", () => {
  for (const { text } of good) {
    const chip: Chip = parseChip(text);
    // An empty field is one that is not filled in yet.
    if (JSON.stringify(chip).includes('""')) continue;
    assert.deepEqual(chipOfDraft(draftOf(chip)), chip, text);
  }
});

test("a new form lacks something, and says nothing is wrong", () => {
  for (const { key } of KINDS) {
    const made = chipOfDraft(newDraft(key));
    if (key === "live") assert.equal("key" in made && printChip(made), "live:end");
    else assert.deepEqual(made, { index: 0, why: null }, key);
  }
});

test("a form says which of its values is wrong", () => {
  const draft = newDraft("size");
  const wrong = { ...draft, values: [...draftOf(parseChip("size:4K")).values, { mode: "from" as const, a: "big", b: "" }] };
  assert.deepEqual(chipOfDraft(wrong), { index: 1, why: '"big" is not a size' });
  const backwards = { ...draft, values: [{ mode: "between" as const, a: "2K", b: "1K" }] };
  assert.deepEqual(chipOfDraft(backwards), { index: 0, why: "the range ends before it begins" });
});

test("typed values", () => {
  assert.deepEqual(parseMoment(" 1m30s "), { us: 90e6 });
  assert.deepEqual(parseMoment("peak"), "peak");
  assert.equal(parseTime("250ms"), 250e3);
  assert.equal(parseSize("1.5M"), 1.5 * 2 ** 20);
  assert.throws(() => parseTime("1s later"), /unexpected " later"/);
  assert.throws(() => parseSize(""), ChipError);
});

test("any name can be a chip's value", () => {
  for (const name of ["", "a", "a,b", '"', "\\", '\\"', "~x", "/x/", "a..b", "Stdlib.(..)", "<script>", "été", "a b"]) {
    assert.deepEqual(parseChip(`in:${quoteName(name)},x`).values, [{ equals: name }, { equals: "x" }], name);
  }
});
