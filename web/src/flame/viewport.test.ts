import assert from "node:assert/strict";
import { test } from "node:test";
import { contentOf, firstTop, rowCount, rowShowing, type Rows } from "./rows.ts";
import { random } from "./trees.testing.ts";
import { between, clamp, pan, reveal, revealStretch, zoomAbout, type Viewport } from "./viewport.ts";

const near = (a: number, b: number, what: string) => assert.ok(Math.abs(a - b) < 1e-9, `${what}: ${a} is not ${b}`);

test("zooming keeps the point under the mouse", () => {
  const next = random(3);
  for (let i = 0; i < 200; i++) {
    const from = next() * 0.8;
    const view: Viewport = { from, to: from + 0.01 + next() * (0.99 - from), top: 3 };
    const at = next();
    const nearer = zoomAbout(view, at, 1 + next() * 5);
    near(nearer.from + at * (nearer.to - nearer.from), view.from + at * (view.to - view.from), "point");
    assert.equal(nearer.top, 3);
  }
});

test("views stay within the width", () => {
  const next = random(9);
  let view: Viewport = { from: 0, to: 1, top: 0 };
  for (let i = 0; i < 500; i++) {
    view = next() < 0.5 ? zoomAbout(view, next(), next() * 3 + 0.1) : pan(view, next() * 4 - 2, 1);
    assert.ok(view.from >= 0 && view.to <= 1 + 1e-12 && view.from < view.to, JSON.stringify(view));
  }
});

test("few rows stand on the floor in a flame and under the ceiling in an icicle", () => {
  const view = { from: 0, to: 1, top: 5 };
  assert.equal(clamp(view, { rows: 4, visible: 10, floor: true }).top, -6);
  assert.equal(clamp(view, { rows: 4, visible: 10, floor: false }).top, 0);
  assert.equal(clamp(view, { rows: 40, visible: 10, floor: true }).top, 5);
  assert.equal(clamp({ ...view, top: 99 }, { rows: 40, visible: 10, floor: false }).top, 30);
});

test("an animation begins and ends where it should, and never leaves both views behind", () => {
  const a = { from: 0, to: 1, top: 0 };
  const b = { from: 0.4, to: 0.45, top: 8 };
  near(between(a, b, 0).from, 0, "from");
  near(between(a, b, 0).to, 1, "to");
  assert.equal(between(a, b, 1), b);
  for (let step = 0; step <= 1; step += 0.05) {
    const view = between(a, b, step);
    assert.ok(view.from <= b.from + 1e-9 && view.to >= b.to - 1e-9);
  }
});

test("revealing moves as little as possible", () => {
  const view = { from: 0.2, to: 0.4, top: 10 };
  assert.equal(reveal(view, 15, 20), view);
  assert.equal(reveal(view, 3, 20).top, 2);
  assert.equal(reveal(view, 60, 20).top, 42);
  assert.equal(revealStretch(view, 0.25, 0.3, 0.01), view);
  near(revealStretch(view, 0.5, 0.6, 0.01).to, 0.6, "to");
  assert.equal(revealStretch(view, 0.1, 0.9, 0.01), view);
  assert.deepEqual(revealStretch(view, 0.3, 0.9, 0.01), { from: 0.3, to: 0.9, top: 10 });
  const tiny = revealStretch(view, 0.3, 0.3001, 0.01);
  near((0.3001 - 0.3) / (tiny.to - tiny.from), 0.01, "share");
});

test("rows and what they show are inverse, and callees touch the focus", () => {
  for (const orientation of ["flame", "icicle"] as const) {
    const rows: Rows = { orientation, callers: 3, focus: 2, callees: 4 };
    for (let row = 0; row < rowCount(rows); row++) assert.equal(rowShowing(rows, contentOf(rows, row)), row);
    const callee = rowShowing(rows, { part: "callees", depth: 1 });
    const last = rowShowing(rows, { part: "focus", depth: 1 });
    assert.equal(callee - last, orientation === "flame" ? -1 : 1);
    const caller = rowShowing(rows, { part: "callers", depth: 1 });
    assert.equal(caller - rowShowing(rows, { part: "focus", depth: 0 }), orientation === "flame" ? 1 : -1);
  }
});

test("the first view has the focus in sight, and as much of the deeper side as fits", () => {
  const deep: Rows = { orientation: "flame", callers: 0, focus: 1, callees: 9_982 };
  assert.equal(firstTop(deep, 40), 9_983 - 40);
  const both: Rows = { orientation: "icicle", callers: 100, focus: 1, callees: 100 };
  const top = firstTop(both, 41);
  assert.ok(100 >= top && 101 <= top + 41);
  assert.equal(top, 80);
  assert.equal(firstTop({ orientation: "icicle", callers: 2, focus: 1, callees: 3 }, 40), 0);
});
