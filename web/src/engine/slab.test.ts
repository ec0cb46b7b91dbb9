import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, EngineError } from "./slab.ts";

/** A response as the engine writes it. */
function encode(header: object, columns: number[]): ArrayBuffer {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const base = Math.ceil((8 + json.length) / 8) * 8;
  const buffer = new ArrayBuffer(base + columns.length * 8);
  const bytes = new Uint8Array(buffer);
  bytes.set(new TextEncoder().encode("MTA1"));
  new DataView(buffer).setUint32(4, json.length, true);
  bytes.set(json, 8);
  new Float64Array(buffer, base).set(columns);
  return buffer;
}

test("fields and columns of a response, whatever the header's length", () => {
  for (const name of ["", "a", "ab", "abc", "abcd", "abcde", "abcdef", "abcdefg"]) {
    const header = {
      name,
      columns: { time: { type: "f64", at: 0, len: 2 }, id: { type: "u32", at: 16, len: 2 } },
    };
    const response = decode<{ name: string }>(encode(header, [1.5, -2, 0]));
    assert.equal(response.name, name);
    assert.deepEqual([...response.columns.f64("time")], [1.5, -2]);
    assert.deepEqual([...response.columns.u32("id")], [0, 0]);
    assert.ok(!response.columns.has("toString"));
    assert.throws(() => response.columns.f64("id"), /column id is u32/);
    assert.throws(() => response.columns.f64("toString"), /without a column toString/);
  }
});

test("the engine's refusal keeps its hint and its place", () => {
  const filterError = { error: { message: "no such heap: majr", hint: "minor, major, external", condition: 1, at: 5 } };
  assert.throws(
    () => decode(encode(filterError, [])),
    (error) =>
      error instanceof EngineError &&
      error.message === "no such heap: majr" &&
      error.hint === "minor, major, external" &&
      error.condition === 1 &&
      error.at === 5,
  );
});

test("bytes that are no response", () => {
  assert.throws(() => decode(new ArrayBuffer(0)), /0 bytes does not begin with MTA1/);
  assert.throws(() => decode(encode({}, []).slice(0, 9)), /has a header of 2/);
});
