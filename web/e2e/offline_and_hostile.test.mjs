// Names that mean something to a browser, recordings with nothing in them, and damaged ones.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { settled, visit } from "./browser.mjs";
import { fixture, offline, scratch, serve } from "./program.mjs";

const VIEWS = ["Flame graph", "Tables", "Lifetimes", "Compare", "Info"];

/** Shows every view; the text of the whole page for each. */
async function everyView(page) {
  const texts = {};
  for (const view of VIEWS) {
    await page.getByRole("tab", { name: view, exact: true }).click();
    await settled(page);
    texts[view] = await page.locator("body").innerText();
  }
  return texts;
}

/** Does something with a recording served, and as a file. */
async function bothWays(recordings, name, use, options) {
  const server = await serve(recordings);
  try {
    await visit(server.url, use, options);
  } finally {
    await server.stop();
  }
  await visit(offline(recordings, [], name), use, options);
}

test("names never become markup", () =>
  bothWays([fixture("hostile-names-v2.ctf")], "hostile", async (page) => {
    const texts = await everyView(page);
    assert.match(texts.Tables, /<script>window\.stolen = 1<\/script>/);
    assert.match(texts.Tables, /Étude\.naïve_größe/);
    assert.match(texts.Info, /<\/script><script>alert\(4\)<\/script>/);
    assert.equal(await page.evaluate(() => window.stolen), undefined);
    assert.equal(await page.locator("img, svg [onload], b, i").count(), 0);
  }));

test("a recording with no sample says so in every view", () =>
  bothWays([fixture("empty-v2.ctf")], "empty", async (page) => {
    const texts = await everyView(page);
    for (const view of VIEWS) assert.ok(texts[view].length > 50, `${view} shows something`);
    assert.doesNotMatch(Object.values(texts).join(), /NaN|Infinity|undefined|null/);
  }));

test("a truncated recording is shown as far as it goes, and the damage is told", async () => {
  const cut = join(scratch, "cut.ctf");
  writeFileSync(cut, readFileSync(fixture("cache-v2.ctf")).subarray(0, 70_001));
  await bothWays([cut], "cut", async (page) => {
    const texts = await everyView(page);
    assert.match(texts.Info, /truncated|cut|damage|incomplete/i);
    assert.doesNotMatch(texts["Flame graph"], /NaN|undefined/);
  });
});

test("stacks of 9,982 frames can be looked at", () =>
  bothWays([fixture("lists_and_sets-v1.ctf")], "deep", async (page) => {
    const graph = page.getByRole("application", { name: "Flame graph" });
    await graph.click();
    for (let press = 0; press < 40; press++) await page.keyboard.press("ArrowUp");
    await settled(page);
    await page.mouse.wheel(0, 40_000);
    await settled(page);
    await everyView(page);
  }));

test("a recording of several domains can be narrowed to one", () =>
  bothWays([fixture("domains-v3.ctf")], "domains", async (page) => {
    await everyView(page);
    const filtered = new URL(page.url());
    filtered.hash = "f=domain:1";
    await page.goto(filtered.href);
    await settled(page);
    assert.match(await page.getByRole("list", { name: "Filters" }).innerText(), /domain 1/i);
  }));
