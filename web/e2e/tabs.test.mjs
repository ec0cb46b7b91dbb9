// Many pages of one `memtrail view`, and pages that come from elsewhere than this machine.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { settled, visit } from "./browser.mjs";
import { testInWholeRun } from "./places.mjs";
import { fixture, serve, startGrowing } from "./program.mjs";

const plain = await serve([fixture("cache-v2.ctf")]);
after(() => plain.stop());

/** More than the connections that a browser opens to one origin. */
const TABS = 8;

testInWholeRun("eight pages of one recording all follow it, and all answer", async () => {
  const { folder, end } = await startGrowing("followed");
  const server = await serve([folder]);
  await visit(server.url, async (first) => {
    const pages = [first];
    while (pages.length < TABS) {
      const page = await first.context().newPage();
      pages.push(page);
      await page.goto(server.url);
      await settled(page);
    }
    // Seconds of the recording that a page shows, when they are more than wanted.
    const shown = async (page, wanted) => {
      const seconds = await page.waitForFunction((wanted) => {
        const text = document.querySelector("[aria-label='totals of the recording']")?.textContent ?? "";
        const found = Number(/([\d.]+) s/.exec(text)?.[1] ?? 0);
        return found > wanted && found;
      }, wanted);
      return seconds.jsonValue();
    };
    for (const page of pages) await page.getByTitle("the program runs, and what is shown follows").waitFor();
    const before = await Promise.all(pages.map((page) => shown(page, 0)));
    await Promise.all(pages.map((page, tab) => shown(page, before[tab] + 1)));
    for (const page of pages) {
      await page.getByRole("tab", { name: "Tables" }).click();
      await page.getByRole("treegrid").getByRole("row", { name: /serve/ }).first().waitFor();
    }
    assert.equal(await end(), 0);
    for (const page of pages)
      await page.getByTitle("the program runs, and what is shown follows").waitFor({ state: "hidden" });
  });
  await server.stop();
});

/** As a page sees the browser that came over plain HTTP from another machine. */
const withoutClipboard = () => Object.defineProperty(Navigator.prototype, "clipboard", { get: () => undefined });

test("links are copied where there is no clipboard API", () =>
  visit(
    plain.url,
    async (page) => {
      await page.evaluate(() => navigator.clipboard.writeText("what was there before"));
      await page.context().addInitScript(withoutClipboard);
      await page.reload();
      await settled(page);
      assert.equal(await page.evaluate(() => navigator.clipboard), undefined);
      const button = page.getByRole("button", { name: "Copy link" });
      await button.click();
      await page.getByText("link copied").first().waitFor();
      assert.equal(await button.evaluate((node) => node === document.activeElement), true, "the focus is back");
      // What is on the clipboard, as a field of any page gets it.
      await page.evaluate(() => document.body.insertAdjacentHTML("beforeend", "<textarea id='pasted'></textarea>"));
      const field = page.locator("#pasted");
      await field.focus();
      await page.keyboard.press("Control+V");
      assert.equal(await field.inputValue(), page.url());
    },
    { alone: true },
  ));

test("a page that may not copy says so", () =>
  visit(
    plain.url,
    async (page) => {
      await page.context().addInitScript(withoutClipboard);
      await page.context().addInitScript(() => (document.execCommand = () => false));
      await page.reload();
      await settled(page);
      await page.getByRole("button", { name: "Copy link" }).click();
      await page.getByText("the browser does not let this page copy").first().waitFor();
    },
    { alone: true },
  ));
