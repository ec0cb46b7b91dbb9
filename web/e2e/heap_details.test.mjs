// What the heap half says of single things: labels, shares, strings, kinds, the way through the map.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { settled, state, visit } from "./browser.mjs";
import { recordStages, serve } from "./program.mjs";

const server = await serve([recordStages()]);
after(() => server.stop());

const rows = (page) => page.getByRole("treegrid").getByRole("row");
const row = (page, text) => rows(page).filter({ hasText: text }).first();
const selectedRows = (page) => page.getByRole("treegrid").getByRole("row", { selected: true });
const actions = (page) => page.locator(".tables-actions");
/** `12.3 MiB` as bytes. */
const size = (text) => {
  const [, number, unit] = /([\d.]+) (B|KiB|MiB|GiB)/.exec(text);
  return Number(number) * 1024 ** ["B", "KiB", "MiB", "GiB"].indexOf(unit);
};
const alive = async (page) => size(/([\d.]+ \w+) alive/.exec(await page.getByLabel("the snapshot").innerText())[1]);

test("labels of Memtrail.dump stand wherever snapshots are listed, and choose one", () =>
  visit(`${server.url}#view=changes&snap=in+the+evening`, async (page) => {
    const choice = page.getByRole("combobox", { name: "snapshot that is looked at" });
    const titles = await choice.locator("option").allInnerTexts();
    assert.match(titles.join(), /1 “after warm-up” .*2 “in the evening” .*3 “at night”/);
    assert.equal(await choice.inputValue(), "2", "the address may name a label");
    assert.match(await page.locator(".evolution-legend").innerText(), /“in the evening”/);
    const curve = page.getByRole("slider", { name: "Snapshot" });
    assert.match(await curve.getAttribute("aria-valuetext"), /“in the evening”/);
    const before = page.getByRole("combobox", { name: "snapshot before" });
    assert.match(await before.locator("option").first().innerText(), /after warm-up/);
    await choice.selectOption({ label: titles[0] });
    await settled(page);
    assert.equal(state(page).get("snap"), "1");
  }));

test("a legend has no kinds of which there is nothing", () =>
  visit(`${server.url}#view=kinds&evolution=kind`, async (page) => {
    const legend = page.locator(".evolution-legend");
    await legend.getByText("float array").waitFor();
    await page.getByRole("slider", { name: "Snapshot" }).focus();
    await page.keyboard.press("Home");
    await settled(page);
    const text = await legend.innerText();
    assert.match(text, /string/);
    assert.doesNotMatch(text, /(^|\s)0 B/m);
  }));

test("what is alive in the heap is not more than the heap", () =>
  visit(`${server.url}#view=kinds`, async (page) => {
    const text = await page.getByLabel("the snapshot").innerText();
    const [, heap, inIt] = /([\d.]+ \w+) heap, ([\d.]+ \w+) of it alive/.exec(text);
    assert.ok(size(inIt) > 0 && size(inIt) <= size(heap), text);
  }));

for (const [view, column] of [
  ["sites", 1],
  ["stack", 1],
  ["changes", 1],
  ["changes&changes=growth", 1],
]) {
  test(`shares in ${view} are shares of all that is alive`, () =>
    visit(`${server.url}#view=${view}`, async (page) => {
      const whole = await alive(page);
      await rows(page).nth(1).waitFor();
      const cells = await rows(page).evaluateAll((all) =>
        all.slice(1, 6).map((one) => [...one.querySelectorAll("[role=gridcell]")].map((cell) => cell.textContent)),
      );
      const some = cells.filter((row) => row[column] !== "–");
      assert.ok(some.length > 0);
      for (const row of some) {
        const [told, expected] = [row[0], (100 * size(row[column])) / whole];
        const share = told.includes("<") ? 0 : Number(/[\d.]+/.exec(told)[0]);
        assert.ok(Math.abs(share - expected) < 0.06 * expected + 0.2, `${told} for ${expected} % (${row})`);
      }
    }));
}

test("a kind leads to where most of it is, not to the largest block that happens to be of it", () =>
  visit(`${server.url}#view=kinds`, async (page) => {
    const kind = row(page, "~ array");
    await kind.waitFor();
    const whole = size((await kind.getByRole("gridcell").allInnerTexts())[1]);
    await kind.click();
    await page.getByRole("button", { name: "Where most are" }).click();
    await settled(page);
    assert.equal(state(page).get("view"), "dominators");
    const trail = await page.getByRole("navigation", { name: /dominator tree/ }).innerText();
    assert.ok(size(trail.slice(trail.lastIndexOf("array"))) > 0.9 * whole, `${trail} of ${whole}`);
    await page.goBack();
    await settled(page);
    await kind.click();
    await page.getByRole("button", { name: "One of those" }).click();
    await settled(page);
    assert.match(await page.locator(".block-facts").innerText(), /major/);
  }));

test("a click on a leaf of the map shows the blocks that it is made of, and the way has every level", () =>
  visit(`${server.url}#view=dominators`, async (page) => {
    const map = page.locator(".treemap");
    const trail = page.getByRole("navigation", { name: /dominator tree/ }).getByRole("link");
    await map.focus();
    // Into the heaviest box as long as there is one inside.
    // The key does nothing at a leaf, so more presses than levels lead there, however late a box is drawn.
    for (let step = 0; step < 12; step++) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await settled(page);
    assert.match(state(page).get("node"), /^group:/);
    const levels = await trail.allInnerTexts();
    const kinds = state(page).get("node").split("/")[1].split("›");
    assert.deepEqual(levels.slice(-kinds.length), kinds, "each kind on the way is a step");
    await map.waitFor();
    await map.focus();
    await page.keyboard.press("ArrowDown");
    await actions(page)
      .getByText(/retains/)
      .waitFor();
    await page.keyboard.press("Enter");
    await settled(page);
    assert.equal(state(page).get("view"), "block", "a block by itself is looked at");
  }));

test("a row stays selected when rows move", () =>
  visit(`${server.url}#view=kinds`, async (page) => {
    await row(page, "float array").click();
    const sort = (title) => page.getByRole("columnheader", { name: title }).getByRole("button").click();
    for (const title of [/Blocks/, /Kind of block/, /Size/, /Retained/]) {
      await sort(title);
      await settled(page);
      assert.match((await selectedRows(page).allInnerTexts()).join(), /float array/, String(title));
      assert.equal(await selectedRows(page).count(), 1);
      assert.match(await actions(page).innerText(), /float array/);
    }
    await page.getByRole("treegrid").focus();
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Shift+ArrowDown");
    const names = (all) => all.map((one) => one.querySelector(".grid-name").textContent).sort();
    const three = await selectedRows(page).evaluateAll(names);
    assert.equal(three.length, 3);
    await sort(/Kind of block/);
    await settled(page);
    const still = await selectedRows(page).evaluateAll(names);
    assert.ok(still.length > 0 && still.every((name) => three.includes(name)), `${still} of ${three}`);
  }));

test("all repeated strings are there, written as OCaml writes them, and sums fit together", () =>
  visit(`${server.url}#view=strings`, async (page) => {
    await rows(page).nth(1).waitFor();
    const text = await page.locator(".tables-tools").innerText();
    const [, all, wasted] = /strings take up ([\d.]+ \w+), ([\d.]+ \w+) of that in repetitions/.exec(text);
    assert.ok(size(wasted) < size(all), text);
    const [, count] = /([\d,]+) rows/.exec(text);
    assert.ok(Number(count.replaceAll(",", "")) >= 1500, `${count} rows`);
    await page.getByRole("searchbox", { name: /Find rows/ }).fill("entry");
    await page.waitForFunction(() => location.hash.includes("strings-find"));
    await settled(page);
    await row(page, "entry\\0001").waitFor();
    const kinds = await row(page, "entry").getByRole("gridcell").allInnerTexts();
    assert.doesNotMatch(kinds.join(), /u0000/);
  }));
