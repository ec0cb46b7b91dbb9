import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, bytesWithError, count, grouped, percent, seconds } from "./units.ts";

const KIB = 1024;

test("sizes: the texts of memtrail report", () => {
  const cases: [number, string][] = [
    [0, "0 B"],
    [999.4, "999 B"],
    [999.6, "0.98 KiB"],
    [9.994 * KIB, "9.99 KiB"],
    [9.996 * KIB, "10.0 KiB"],
    [99.96 * KIB, "100 KiB"],
    [999.6 * KIB, "0.98 MiB"],
    [1.5 * KIB ** 3, "1.50 GiB"],
    [-1.5 * KIB ** 2, "−1.50 MiB"],
  ];
  for (const [size, text] of cases) assert.equal(bytes(size), text);
  assert.equal(bytesWithError(13.24 * KIB ** 2, 0.6 * KIB ** 2), "13.2 ±0.6 MiB");
  assert.equal(bytesWithError(80, 0), "80 B");
  assert.equal(bytesWithError(816.2 * KIB, 0.4 * KIB), "816.2 ±0.4 KiB");
  assert.equal(bytesWithError(816.2 * KIB, 0.04 * KIB), "816 KiB");
});

test("counts and shares", () => {
  const counts: [number, string][] = [
    [0, "0"],
    [9_999, "9,999"],
    [9_999.9, "10.0 k"],
    [99_123, "99.1 k"],
    [999_600, "1.00 M"],
    [4.61e6, "4.61 M"],
  ];
  for (const [number, text] of counts) assert.equal(count(number), text);
  const shares: [number, string][] = [
    [0, "0 %"],
    [0.0001, "<0.1 %"],
    [0.051, "5.1 %"],
    [0.0996, "10 %"],
    [1, "100 %"],
  ];
  for (const [share, text] of shares) assert.equal(percent(share), text);
  assert.equal(grouped(1_234_567), "1,234,567");
});

test("times from microseconds to months", () => {
  const cases: [number, string][] = [
    [0, "0 s"],
    [0.000_02, "20 µs"],
    [0.0012, "1.2 ms"],
    [0.062, "62 ms"],
    [0.31, "0.31 s"],
    [9.999, "10.0 s"],
    [61.26, "61.3 s"],
    [100, "1m40s"],
    [3_599.9, "1h00m"],
    [8_040, "2h14m"],
    [788_400, "9d03h"],
  ];
  for (const [time, text] of cases) assert.equal(seconds(time), text);
});
