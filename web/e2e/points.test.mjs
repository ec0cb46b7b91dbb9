// Points of interest: what carries the weight, and nothing that everything passes through.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { settled, state, visit } from "./browser.mjs";
import { recordLeaks, serve } from "./program.mjs";

const server = await serve([recordLeaks()]);
after(() => server.stop());

const fragments = (page) => page.locator("button.hot-fragment");
const texts = (page) => fragments(page).allInnerTexts();
const leaks = async (page) => {
  await page
    .getByRole("group", { name: "ready-made filters" })
    .getByRole("button", { name: /^Leaks/ })
    .click();
  await settled(page);
};

test("hot paths after Leaks are the paths to the leaks", () =>
  visit(server.url, async (page) => {
    await leaks(page);
    await page.getByRole("radio", { name: "Hot paths" }).click();
    await settled(page);
    const paths = (await texts(page)).join("\n");
    for (const leak of ["Connection.open_", "Session_cache.load", "Outbox.compose"]) {
      assert.match(paths, new RegExp(leak.replace(".", "\\.")), leak);
    }
    await fragments(page).filter({ hasText: "Session_cache" }).first().click();
    await settled(page);
    const focus = new URLSearchParams(new URL(page.url()).hash.slice(1)).getAll("focus");
    assert.ok(focus.length > 2, `the whole path is in the focus: ${focus}`);
  }));

for (const filter of ["", "f=allocated:10%25..90%25&f=live:end"]) {
  test(`points of interest begin with something that is not everything (${filter || "no filter"})`, () =>
    visit(`${server.url}#${filter}`, async (page) => {
      const all = await texts(page);
      assert.ok(all.length > 3);
      for (const text of all) assert.doesNotMatch(text, /\b100 %/);
      await page.getByRole("button", { name: "all allocations" }).click();
      await settled(page);
      assert.equal(state(page).get("focus"), "<allocations>");
      await page.getByRole("button", { name: "the whole program" }).click();
      await settled(page);
      assert.equal(state(page).get("focus"), null);
    }));
}

test("a row of the allocations' table stays selected when the order or the filter changes", () =>
  visit(`${server.url}#view=tables`, async (page) => {
    const grid = page.getByRole("treegrid");
    const selected = grid.getByRole("row", { selected: true });
    await grid
      .getByRole("row", { name: /Session_cache\.load/ })
      .first()
      .click();
    for (const title of ["Self", "Live at end", "Functions", "Total"]) {
      await grid.getByRole("columnheader", { name: title }).getByRole("button").click();
      await settled(page);
      assert.match((await selected.allInnerTexts()).join(), /Session_cache\.load/, title);
      assert.match(await page.locator(".tables-actions").innerText(), /Session_cache\.load/);
    }
    await leaks(page);
    assert.match((await selected.allInnerTexts()).join(), /Session_cache\.load/, "after a filter");
    await page.getByRole("button", { name: "Only inside" }).click();
    await settled(page);
    assert.match(decodeURIComponent(page.url()), /in:Leaks\.Session_cache\.load/);
  }));
