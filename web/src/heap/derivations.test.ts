import assert from "node:assert/strict";
import { test } from "node:test";
import { howKnown } from "./derivations.ts";

const place = (derivation: string) => ({ file: "shop.ml", line: 9, last_line: 14, derivation });

test("lines of functions say how they are known", () => {
  const all = ["cmt", "start", "first call", "neighbours", "class", "unit"];
  const texts = all.map((derivation) => howKnown({ derivation: null, function: place(derivation) }));
  assert.ok(texts.every((text) => text !== ""));
  assert.equal(new Set(texts).size, all.length);
});

test("types say how they are known", () => {
  assert.equal(howKnown({ derivation: "contents" }), "type by contents");
  assert.equal(howKnown({ derivation: null }), "");
});
