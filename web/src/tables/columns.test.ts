import assert from "node:assert/strict";
import { test } from "node:test";
import type { Row } from "./row.ts";
import { COLUMNS, COMPARED, tabSeparated } from "./columns.ts";

const row: Row = {
  key: "A.f",
  label: "A.\tf<script>",
  module: "A",
  file: "a.ml",
  line: 3,
  entity: 1,
  total: 1536.4,
  self: 0,
  live: 12,
  blocks: 20.2,
  lifetime: Number.NaN,
  share: 0.25,
  before: null,
  status: null,
};

test("copied rows have one line each and one cell a title", () => {
  const lines = tabSeparated([row, { ...row, line: null }]).split("\n");
  assert.equal(lines.length, 4);
  assert.equal(lines[1], "A. f<script>\tA\ta.ml:3\t25 %\t1536\t0\t12\t20\t");
  assert.equal(lines[2]!.split("\t")[2], "a.ml");
  for (const line of lines.slice(0, 3)) assert.equal(line.split("\t").length, 4 + COLUMNS.length);
});

test("figures read as everywhere on the page", () => {
  assert.deepEqual(
    COLUMNS.map((column) => column.text(row)),
    ["1.50 KiB", "–", "12 B", "20", "–"],
  );
});

test("a baseline is beside the total, and what chance may explain is no change", () => {
  const texts = (compared: Row) => COMPARED.slice(0, 3).map((column) => column.text(compared));
  assert.deepEqual(texts({ ...row, before: 1024, status: "grown" }), ["1.50 KiB", "1.00 KiB", "+50 %"]);
  assert.deepEqual(texts({ ...row, before: 1500, status: "same" }).slice(2), ["uncertain"]);
  assert.deepEqual(texts({ ...row, before: 0, status: "new" }).slice(1), ["–", "new"]);
  // Callers and callees in an opened row are not compared.
  assert.deepEqual(texts(row).slice(1), ["", ""]);
});
