import assert from "node:assert/strict";
import { test } from "node:test";
import { editorAddress, placeOf } from "./place.ts";

test("an address of an editor has the place in it, and nothing of a name that means more there", () => {
  const code = "vscode://file{path}:{line}:{column}";
  assert.equal(editorAddress(code, "/src/a.ml", 7, 3), "vscode://file/src/a.ml:7:3");
  assert.equal(editorAddress(code, "/a b/{line}&?#.ml", 1, 1), "vscode://file/a%20b/%7Bline%7D%26%3F%23.ml:1:1");
  assert.equal(editorAddress("x:{path}?{path}", "$&", 1, 1), "x:%24%26?%24%26");
});

test("a place needs a file and a line", () => {
  assert.equal(placeOf(undefined), null);
  assert.equal(placeOf({ file: "", line: 1 }), null);
  assert.equal(placeOf({ file: "a.ml", line: null }), null);
  assert.deepEqual(placeOf({ file: "a.ml", line: 2 }), { file: "a.ml", line: 2, column: 0 });
});
