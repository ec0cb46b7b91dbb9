import assert from "node:assert/strict";
import { test } from "node:test";
import { csv } from "./csv.ts";

test("cells with commas, quotes and line ends are quoted", () => {
  assert.equal(
    csv([
      ["Name", "Size"],
      ['a "b", c', "12"],
      ["x\ny", "-3.5"],
    ]),
    'Name,Size\r\n"a ""b"", c",12\r\n"x\ny",-3.5\r\n',
  );
});

test("what a spreadsheet would compute is text", () => {
  assert.equal(csv([["=1+1", "@x", "-f x", "+3"]]), "'=1+1,'@x,'-f x,+3\r\n");
});
