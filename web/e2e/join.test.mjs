// From what allocates to what retains it, and back: both halves of a recording in one question.
import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import { after } from "node:test";
import { settled, state, visit } from "./browser.mjs";
import { testIn } from "./places.mjs";
import { offline, recordKept, serve } from "./program.mjs";

const kept = await recordKept("joined", 3);
const server = await serve([kept]);
after(() => server.stop());
const places = [
  ["served", server.url],
  ["offline", offline([kept], [], "joined")],
];

const rows = (page) => page.getByRole("treegrid").getByRole("row");
const selectedTab = (page) => page.getByRole("tab", { selected: true }).innerText();
const click = async (page, name) => {
  await page.getByRole("button", { name, exact: true }).first().click();
  await settled(page);
};
const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
  await settled(page);
};

for (const [place, url] of places) {
  testIn(
    place,
    "a function of the table leads to what retains what it allocated, and its owner back to the calls",
    () =>
      visit(`${url}#view=tables&find=open_session`, async (page) => {
        await rows(page).filter({ hasText: "open_session" }).first().click();
        await click(page, "What retains it");
        assert.equal(state(page).get("view"), "why");
        assert.equal(state(page).get("why"), "Keeps.open_session");
        assert.equal(await selectedTab(page), "Retained by");
        const owners = page.getByRole("region", { name: "owners" });
        await owners.getByText("Keeps").first().waitFor();
        await page.getByRole("application", { name: /^Retaining paths of what Keeps.open_session/ }).waitFor();
        await owners.getByRole("button", { name: "Who allocated it" }).first().click();
        await settled(page);
        assert.match(state(page).get("who"), /^owner:label:/);
        assert.equal(await selectedTab(page), "Allocated by");
        const calls = page.getByRole("application", { name: /^Calls that allocated/ });
        await calls.focus();
        for (let step = 0; step < 3; step++) await page.keyboard.press("ArrowDown");
        await page.keyboard.press("w");
        await settled(page);
        assert.equal(state(page).get("view"), "why");
        await page.goBack();
        await settled(page);
        assert.equal(state(page).get("view"), "who");
        await page.reload();
        await settled(page);
        await page.getByRole("application", { name: /^Calls that allocated/ }).waitFor();
      }),
  );

  testIn(place, "the call path of a box leads to what retains what is allocated below it", () =>
    visit(`${url}#view=flame&focus=Keeps.serve&dir=callees`, async (page) => {
      await page.getByRole("application", { name: /^Flame graph of/ }).focus();
      await press(page, "ArrowDown", "ArrowUp", "m", "W");
      assert.equal(await selectedTab(page), "Retained by");
      const path = JSON.parse(state(page).get("path"));
      assert.equal(path.length, 2);
      assert.equal(path[0], "Keeps.serve");
      await page.getByRole("heading", { name: `Keeps.serve → ${path[1]}` }).waitFor();
      await page.getByRole("application", { name: /^Retaining paths of what Keeps.serve → / }).waitFor();
      await click(page, "In the flame graph");
      assert.deepEqual(state(page).getAll("focus"), path);
    }),
  );

  testIn(place, "views beyond the ninth have letters in the list of all", () =>
    visit(`${url}#view=roots`, async (page) => {
      await press(page, "v");
      const menu = page.getByRole("menu", { name: "Views" });
      // A page that was saved has fewer views.
      const views = (await page.getByRole("tab").allInnerTexts()).map((name) => name.trim());
      assert.equal(await menu.getByRole("menuitem").count(), views.length);
      await press(page, "a");
      assert.equal(await selectedTab(page), views[9]);
      await page.getByRole("button", { name: "All views" }).click();
      await menu.getByRole("menuitem", { name: "Kinds" }).click();
      await settled(page);
      assert.equal(await selectedTab(page), "Kinds");
    }),
  );

  testIn(place, "a box of the flame graph leads to the heap by a key", () =>
    visit(`${url}#view=flame&focus=Keeps.open_session`, async (page) => {
      await page.getByRole("application", { name: /^Flame graph of/ }).focus();
      await page.keyboard.press("ArrowDown");
      await settled(page);
      await page.getByRole("button", { name: "What retains it" }).waitFor();
      await page.keyboard.press("w");
      await settled(page);
      assert.equal(state(page).get("view"), "why");
      const paths = page.getByRole("application", { name: /^Retaining paths/ });
      await paths.focus();
      for (let step = 0; step < 3; step++) await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await settled(page);
      assert.equal(state(page).get("view"), "block", "a box opens one of its blocks");
      await page.getByRole("region", { name: "what retains it" }).waitFor();
    }),
  );

  testIn(place, "a suspect leads to what retains it and to who allocated it", () =>
    visit(url, async (page) => {
      await page.getByRole("region", { name: "Leak suspects" }).waitFor();
      await click(page, "Who allocated it");
      assert.match(state(page).get("who"), /^node:/);
      await page.getByRole("application", { name: /^Calls that allocated/ }).waitFor();
      await page.goBack();
      await settled(page);
      await click(page, "What retains it");
      assert.equal(state(page).get("view"), "why");
      await page.getByRole("application", { name: /^Retaining paths/ }).waitFor();
    }),
  );

  testIn(place, "roots, kinds and dominators lead to who allocated them", () =>
    visit(`${url}#view=kinds&kinds-find=string`, async (page) => {
      await rows(page).filter({ hasText: "string" }).first().click();
      await page.keyboard.press("w");
      await settled(page);
      assert.match(state(page).get("who"), /^name:/);
      await page.getByRole("application", { name: /^Calls that allocated/ }).waitFor();
      await page.evaluate(() => (location.hash = "view=roots"));
      await settled(page);
      await rows(page).filter({ hasText: "Keeps" }).first().click();
      await click(page, "Who allocated it");
      assert.match(state(page).get("who"), /^owner:/);
      await page.evaluate(() => (location.hash = "view=dominators"));
      await settled(page);
      await page.getByRole("application", { name: /^Retained by all roots, / }).focus();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("w");
      await settled(page);
      assert.match(state(page).get("who"), /^node:/);
      await page.getByRole("application", { name: /^Calls that allocated/ }).waitFor();
    }),
  );

  testIn(place, "steps inside a container are one, or one by one where that is wanted", () =>
    visit(`${url}#view=why&why=Keeps.open_session&within=1`, async (page) => {
      // Whatever was sampled, it is in the table.
      await page.getByRole("application", { name: /^Retaining paths/ }).focus();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await settled(page);
      const path = page.getByRole("region", { name: "what retains it" });
      const containers = path.getByRole("listitem").filter({ hasText: /in hashtbl of/ });
      const box = path.getByRole("checkbox", { name: "steps inside containers" });
      await containers.first().waitFor();
      await box.check();
      await settled(page);
      assert.equal(state(page).get("unfolded"), "1");
      await containers.first().waitFor({ state: "detached" });
      await box.uncheck();
      await settled(page);
      await containers.first().waitFor();
    }),
  );
}

for (const [place, url] of places) {
  testIn(place, "blocks are listed by conditions, opened, and saved as a file", () =>
    visit(`${url}#view=blocks`, async (page, wrong) => {
      const field = page.getByRole("searchbox", { name: "Conditions on blocks" });
      await field.fill("kind:string size:<=16");
      await field.press("Enter");
      await settled(page);
      assert.equal(state(page).get("blocks"), "kind:string size:<=16");
      const shown = rows(page).filter({ hasText: "string" });
      await shown.first().waitFor();
      assert.ok((await rows(page).allInnerTexts()).slice(1).every((text) => text.includes("string")));
      await page.getByRole("button", { name: "Save the table as a file" }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "CSV", exact: true }).click(),
      ]);
      const csv = await text(await download.createReadStream());
      assert.match(csv, /^Kind of block,Owner,Retained,Size,Age,Block\r\nstring,/);
      await field.fill("colour:red");
      await field.press("Enter");
      await settled(page);
      await page.getByText('unknown condition "colour"').first().waitFor();
      // Served, the browser reports the refused query, too.
      assert.ok(wrong.every((message) => message.includes("400 (Bad Request)")));
      wrong.length = 0;
      await page.goBack();
      await settled(page);
      await shown.first().dblclick();
      await settled(page);
      assert.equal(state(page).get("view"), "block");
    }),
  );

  testIn(place, "n and N lead from match to match of a search", () =>
    visit(`${url}#view=flame&q=Keeps`, async (page) => {
      const selected = () => page.locator(".flame-selection strong").first().innerText();
      const found = page.locator(".flame-found");
      await found.filter({ hasText: /^\d+ box(es)?: .* %$/ }).waitFor();
      const [boxes] = /^\d+/.exec(await found.innerText());
      await page.getByRole("application", { name: /^Flame graph of/ }).focus();
      await page.keyboard.press("n");
      await settled(page);
      const first = await selected();
      assert.ok((await found.innerText()).startsWith(`1 of ${boxes}: `), "which of the matches is selected");
      await page.keyboard.press("n");
      await settled(page);
      const second = await selected();
      assert.ok(first.startsWith("Keeps") || second.startsWith("Keeps"), `${first}, ${second}`);
      await page.keyboard.press("Shift+N");
      await settled(page);
      assert.equal(await selected(), first);
      await page.getByRole("button", { name: "next match" }).click();
      await settled(page);
      assert.equal(await selected(), second);
    }),
  );
}
