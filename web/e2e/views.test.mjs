// Each view does what it is for: served by `memtrail view`, and as one file without a server.
import assert from "node:assert/strict";
import { after } from "node:test";
import { conditions, settled, state, visit } from "./browser.mjs";
import { testIn } from "./places.mjs";
import { offline, recordCompiler, recordLeaks, serve } from "./program.mjs";

const recordings = [recordLeaks("before"), recordCompiler()];
const server = await serve(recordings);
after(() => server.stop());
const places = [
  ["served", server.url],
  ["offline", offline(recordings)],
];

const tab = async (page, name) => {
  await page.getByRole("tab", { name }).click();
  await settled(page);
};
const preset = async (page, name) => {
  await page.getByRole("group", { name: "ready-made filters" }).getByRole("button", { name }).click();
  await settled(page);
};
const fragment = (page, name) => page.locator("button.hot-fragment", { hasText: name }).first();

for (const [place, url] of places) {
  testIn(place, "the demo's leak is found in three clicks", () =>
    visit(url, async (page) => {
      await preset(page, /^Leaks/);
      assert.equal((await conditions(page)).length, 2, "allocated after warm-up, live at the end");
      for (const [leak, where] of [
        ["Leaks.Connection.open_", "leaks.ml:75"],
        ["Leaks.Session_cache.load", "leaks.ml:37"],
        ["Leaks.Outbox.compose", "leaks.ml:56"],
      ]) {
        await fragment(page, leak).click();
        await settled(page);
        assert.match(decodeURIComponent(page.url()), new RegExp(leak), "focus is in the URL");
        const text = await page.locator("body").innerText();
        assert.ok(text.includes(leak), `${leak} is in the focus`);
        assert.ok((await page.content()).includes(where) || text.includes(where), `${where} is named`);
      }
    }),
  );

  testIn(place, "a search says its share of the whole", () =>
    visit(url, async (page) => {
      const box = page.getByRole("searchbox", { name: /^Search functions/ });
      await box.fill("Session_cache");
      await settled(page);
      const found = page.locator(".flame-found");
      await found.filter({ hasText: "%" }).waitFor();
      const share = Number(/([\d.]+) %/.exec(await found.innerText())[1]);
      assert.ok(share > 0.1 && share < 20, `${share} % of all that was allocated`);
      assert.equal(state(page).get("q"), "Session_cache");
    }),
  );

  testIn(place, "tables sort, find, and open into callers", () =>
    visit(`${url}#view=tables&f=live:end`, async (page) => {
      const grid = page.getByRole("treegrid");
      await grid
        .getByRole("row", { name: /Leaks\.visit/ })
        .first()
        .waitFor();
      await page
        .getByRole("textbox", { name: /Find rows/ })
        .or(page.getByRole("searchbox", { name: /Find rows/ }))
        .fill("load");
      await settled(page);
      const row = grid.getByRole("row", { name: /Session_cache\.load/ }).first();
      await row.waitFor();
      await grid
        .getByRole("row", { name: /Page\.render/ })
        .first()
        .waitFor({ state: "hidden" });
      await row.click();
      await page.keyboard.press("ArrowRight");
      await settled(page);
      await grid
        .getByRole("row", { name: /Session_cache\.find/ })
        .first()
        .waitFor();
      await grid.getByRole("columnheader", { name: /Self/ }).getByRole("button").click();
      await settled(page);
      assert.equal(state(page).get("sort"), "self");
    }),
  );

  testIn(place, "a filter is added by its form, and goes by its cross", () =>
    visit(url, async (page) => {
      await page.getByRole("button", { name: "add a filter" }).click();
      const text = page
        .getByRole("combobox", { name: /condition/ })
        .or(page.getByLabel(/condition, by name or as text/));
      await text.first().fill("heap:major");
      await page.keyboard.press("Enter");
      await settled(page);
      assert.match((await conditions(page)).join(), /major/);
      assert.equal(state(page).get("f"), "heap:major");
      await page
        .getByRole("button", { name: /^remove:/ })
        .first()
        .click();
      await settled(page);
      assert.deepEqual(await conditions(page), []);
    }),
  );

  testIn(place, "presets are one click, and back undoes it", () =>
    visit(url, async (page) => {
      for (const [name, condition] of [
        ["Peak", /live at the peak/],
        ["Temporary", /living at most/],
        ["Growth", /allocated/],
      ]) {
        await preset(page, name);
        assert.match((await conditions(page)).join(" "), condition);
      }
      for (let step = 0; step < 3; step++) await page.goBack();
      await settled(page);
      assert.deepEqual(await conditions(page), []);
    }),
  );

  testIn(place, "a comparison opens with before and after in the order they were named", () =>
    visit(url, async (page) => {
      await tab(page, "Compare");
      const sides = await page.locator(".compare-side").allInnerTexts();
      assert.match(sides[0], /^Before/);
      assert.match(sides[1], /^After/);
      assert.equal(await page.getByLabel("Recording before").inputValue(), "0");
      assert.equal(state(page).get("rec"), "1");
    }),
  );

  testIn(place, "two recordings are compared, as a graph and as a table", () =>
    visit(`${url}#view=compare&rec=1`, async (page) => {
      await page
        .getByRole("radio", { name: "Table" })
        .or(page.getByRole("button", { name: "Table", exact: true }))
        .first()
        .click();
      await settled(page);
      const text = await page.locator(".view").innerText();
      assert.match(text, /gone/);
      assert.match(text, /new/);
      assert.match(text, /Leaks\.visit/);
    }),
  );

  testIn(place, "lifetimes, info, both themes and any width", () =>
    visit(url, async (page) => {
      await tab(page, "Lifetimes");
      await page
        .getByRole("application", { name: /lifetime/i })
        .or(page.getByLabel(/lifetime/i))
        .first()
        .waitFor();
      await tab(page, "Info");
      assert.match(await page.locator(".view").innerText(), /OCaml 4\.13/);
      await page.keyboard.press("t");
      const theme = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      await page.keyboard.press("t");
      assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), theme);
      for (const width of [900, 2560, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        for (const name of ["Flame graph", "Tables", "Lifetimes", "Compare", "Info"]) {
          await tab(page, name);
          const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(beyond <= 0, `${name} at ${width} is ${beyond} px too wide`);
        }
      }
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "hidden" });
    }),
  );

  testIn(place, "exports are files of the selected part", () =>
    visit(`${url}#f=live:end`, async (page) => {
      await page
        .getByRole("button", { name: /export/i })
        .first()
        .click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByText("Folded stacks").first().click(),
      ]);
      const stream = await download.createReadStream();
      let text = "";
      for await (const part of stream) text += part;
      assert.match(text, /Leaks\.Session_cache\.load.* \d+\n/);
    }),
  );
}
