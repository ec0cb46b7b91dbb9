// Heaps of two recordings, a baseline that stays, and what survived between snapshots.
import assert from "node:assert/strict";
import { after } from "node:test";
import { settled, state, visit } from "./browser.mjs";
import { testIn } from "./places.mjs";
import { offline, recordKept, serve } from "./program.mjs";

const [short, long] = [await recordKept("short", 2), await recordKept("long", 4)];
const server = await serve([short, long]);
after(() => server.stop());
const places = [
  ["served", server.url],
  ["offline", offline([short, long], [], "two")],
];

const rows = (page) => page.getByRole("treegrid").getByRole("row");
/** All sizes in a text, in bytes. */
const bytesIn = (text) =>
  [...text.matchAll(/([\d.]+) (B|KiB|MiB|GiB)/g)].map(
    ([, number, unit]) => Number(number) * 1024 ** ["B", "KiB", "MiB", "GiB"].indexOf(unit),
  );
const selectedTab = (page) => page.getByRole("tab", { selected: true }).innerText();

for (const [place, url] of places) {
  testIn(place, "the last snapshots of two recordings are compared, the first recording is before", () =>
    visit(`${url}#rec=1&view=changes&of=owners`, async (page) => {
      const before = page.getByRole("combobox", { name: "recording before" });
      assert.equal(await before.inputValue(), "0");
      assert.equal(await page.getByRole("combobox", { name: "snapshot before" }).inputValue(), "2");
      assert.equal(await page.getByRole("combobox", { name: "snapshot after" }).inputValue(), "4");
      // The longer run has opened more sessions.
      const sessions = rows(page).filter({ hasText: "Keeps" }).first();
      assert.match(await sessions.innerText(), /\+/);
      await page.getByRole("combobox", { name: "snapshot before" }).selectOption("1");
      await settled(page);
      assert.equal(state(page).get("before"), "1");
      await before.selectOption("1");
      await settled(page);
      assert.equal(await page.getByRole("combobox", { name: "snapshot before" }).inputValue(), "1");
      assert.match(state(page).get("b"), /^rec=1/);
      await page.goBack();
      await settled(page);
      assert.equal(await before.inputValue(), "0");
    }),
  );

  testIn(place, "the comparison of two recordings leads to their heaps", () =>
    visit(`${url}#rec=1&view=compare`, async (page) => {
      await page.getByRole("button", { name: "Heap snapshots" }).click();
      await settled(page);
      assert.equal(await selectedTab(page), "Changes");
      assert.equal(await page.getByRole("combobox", { name: "recording before" }).inputValue(), "0");
    }),
  );

  testIn(place, "a baseline stays while filters and views change", () =>
    visit(`${url}#rec=1&view=tables`, async (page) => {
      const header = page.getByRole("columnheader", { name: "Before" });
      assert.equal(await header.count(), 0);
      await page.getByRole("button", { name: "Keep as baseline" }).click();
      await settled(page);
      await header.waitFor();
      const serve = rows(page).filter({ hasText: "Keeps.serve" }).first();
      assert.match(await serve.innerText(), /same/);
      await page.getByRole("button", { name: "Leaks" }).click();
      await settled(page);
      assert.ok(state(page).getAll("f").length > 0);
      await header.waitFor();
      assert.match(await serve.innerText(), /−|gone|uncertain/);
      await page.keyboard.press("1");
      await settled(page);
      await page.getByText("compared with", { exact: false }).waitFor();
      await page.getByRole("button", { name: "remove the baseline" }).click();
      await settled(page);
      assert.equal(state(page).get("b"), null);
    }),
  );

  testIn(place, "a baseline is in totals, the flame graph, kinds and roots", () =>
    visit(`${url}#rec=1&view=flame&b=rec%3D0`, async (page) => {
      const totals = page.getByLabel("what the filter leaves");
      await totals
        .getByText(/before: /)
        .first()
        .waitFor();
      await page.getByRole("application", { name: /^Flame graph/ }).focus();
      await page.keyboard.press("ArrowUp");
      const selection = page.locator(".flame-selection");
      await selection.getByText(/before: /).waitFor();
      // The longer run has allocated more.
      const [now, before] = bytesIn(await selection.innerText());
      assert.ok(before > 0 && now > before, `${now} ${before}`);

      for (const [view, name] of [
        ["kinds", /./],
        ["roots", /Keeps/],
        ["roots&roots-by=root", /Keeps/],
      ]) {
        await page.goto(`${url}#rec=1&view=${view}&b=rec%3D0`);
        await page.getByRole("columnheader", { name: "Before" }).waitFor();
        // The first is the heading.
        const row = rows(page)
          .filter({ hasNot: page.getByRole("columnheader") })
          .filter({ hasText: name })
          .first();
        const [now, before] = bytesIn(await row.innerText());
        assert.ok(before > 0 && now > before, `${view}: ${now} ${before}`);
      }
      // Without one there is no such column.
      await page.goto(`${url}#rec=1&view=roots`);
      await settled(page);
      await rows(page).filter({ hasText: "Keeps" }).first().waitFor();
      assert.equal(await page.getByRole("columnheader", { name: "Before" }).count(), 0);
    }),
  );

  testIn(place, "a snapshot of the same recording stays the baseline while others are looked at", () =>
    visit(`${url}#rec=1&view=roots&snap=2`, async (page) => {
      const header = page.getByRole("columnheader", { name: "Before" });
      await page.getByRole("button", { name: "Keep as baseline" }).click();
      await settled(page);
      assert.equal(state(page).get("base"), "2");
      assert.equal(await header.count(), 0);
      await page.keyboard.press(".");
      await page.keyboard.press(".");
      await settled(page);
      await header.waitFor();
      await page.getByText("compared with snapshot 2").waitFor();
      const tabs = page.getByRole("radiogroup", { name: "roots" });
      const sizesIn = async (name) => bytesIn(await rows(page).filter({ hasText: name }).first().innerText());
      for (const tab of ["Owners", "Retained"]) {
        await tabs.getByRole("radio", { name: tab }).click();
        await settled(page);
        await header.waitFor();
        const [now, before] = await sizesIn("Keeps");
        assert.ok(before > 0 && now > before, `${tab}: ${now} ${before}`);
      }
      await tabs.getByRole("radio", { name: "Joint" }).click();
      await settled(page);
      await header.waitFor();
      // What two variables share has not changed.
      const [now, before] = await sizesIn("jointly retained by several parts");
      assert.ok(now > 0 && now === before, `${now} ${before}`);

      await page.goto(`${url}#rec=1&view=kinds&base=2`);
      await header.waitFor();
      await page.getByRole("button", { name: "remove the baseline" }).click();
      await settled(page);
      assert.equal(state(page).get("base"), null);
      assert.equal(await header.count(), 0);
    }),
  );

  testIn(place, "survivors of two snapshots lead to what retains them", () =>
    visit(`${url}#rec=1&view=survivors&snap=3&base=1`, async (page) => {
      assert.equal(await selectedTab(page), "Survivors");
      // The first is the heading.
      const row = rows(page).nth(1);
      await row.waitFor();
      assert.match(await row.innerText(), /±/);
      await page.getByRole("combobox", { name: "snapshot after" }).selectOption("4");
      await settled(page);
      assert.equal(state(page).get("base"), "1");
      await row.click();
      await page.getByRole("button", { name: "What retains it" }).click();
      await settled(page);
      assert.equal(await selectedTab(page), "Retained by");
      await page.getByRole("application", { name: /^Retaining paths/ }).waitFor();
    }),
  );
}
