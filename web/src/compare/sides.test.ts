import assert from "node:assert/strict";
import { test } from "node:test";
import { firstSides, sameSide, sideOf, textOf } from "./sides.ts";

test("a comparison begins with before and after in the order they were named", () => {
  assert.deepEqual(firstSides(0, 2), { before: 0, after: 1 });
  assert.deepEqual(firstSides(1, 2), { before: 0, after: 1 });
  assert.deepEqual(firstSides(2, 3), { before: 0, after: 2 });
  assert.equal(firstSides(0, 1), null);
});

test("a side survives being written into a URL within a URL", () => {
  const sides = [
    { rec: 0, filter: [] },
    { rec: 3, filter: ["live:end", 'in:"a,b"', "module:Übersicht", "-in:/x&f=y#z/"] },
  ];
  for (const side of sides) {
    const inside = new URLSearchParams({ b: textOf(side) }).toString();
    assert.deepEqual(sideOf(new URLSearchParams(inside).get("b")!), side);
  }
  assert.ok(sameSide(sides[0]!, { rec: 0, filter: [] }));
  assert.ok(!sameSide(sides[0]!, { rec: 0, filter: ["live:end"] }));
  assert.notEqual(textOf({ rec: 0, filter: [] }), "");
});
