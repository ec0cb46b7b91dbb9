// Which tests of the page a run has: `cargo xtask test --all` has all of them.
import { test } from "node:test";
import { isWholeRun } from "./whole_run.mjs";

/** How many tests a place of this file has had, the first place first. */
const counts = new Map();

/**
 * A test of the page as a server sends it, or as one file. The run of each change takes these places in turn, the
 * first one for the first test, the second one for the second test; `--all` takes both.
 */
export function testIn(place, name, act) {
  const count = counts.get(place) ?? 0;
  counts.set(place, count + 1);
  const turn = [...counts.keys()].indexOf(place);
  if (isWholeRun || count % 2 === turn) test(`${place}: ${name}`, act);
}

/** A test of `--all` alone: one of the run of each change finds nearly the same. */
export function testInWholeRun(name, act) {
  if (isWholeRun) test(name, act);
}
