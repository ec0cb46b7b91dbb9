import assert from "node:assert/strict";
import { test } from "node:test";
import { FIRST_STATE, parseHash, printHash, type PageState } from "./url.ts";

test("every state comes back from its hash", () => {
  const hostile = ["", " ", "a+b", "100%", "a&b=c#d", "<script>", '"q"', "é→🐫", "in:~List.map", "f;g", "a/b?c", "%41"];
  for (const text of hostile) {
    const state: PageState = {
      rec: 3,
      filter: [`in:${text}`, "live:end"],
      view: "tables",
      focus: [text, "List.map@list.ml:92:2-10"],
      more: text ? { q: text, by: "site" } : { by: "site" },
    };
    assert.deepEqual(parseHash(`#${printHash(state)}`), state, text);
  }
});

test("the first state needs no hash, and nonsense is the first state", () => {
  assert.equal(printHash(FIRST_STATE), "");
  for (const hash of ["", "#", "#rec=-1", "#rec=x", "#view="]) assert.deepEqual(parseHash(hash), FIRST_STATE);
});

test("links can be read", () => {
  const state = { ...FIRST_STATE, filter: ["live:end", "in:~List"], focus: ["a@b.ml:1:2-3"], more: { dir: "callees" } };
  assert.equal(printHash(state), "f=live:end&f=in:~List&focus=a@b.ml:1:2-3&dir=callees");
});
