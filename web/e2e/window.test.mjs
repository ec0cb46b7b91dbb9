// The page in windows of every size, zoomed, and where the system forces its colours.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { settled, visit } from "./browser.mjs";
import { testInWholeRun } from "./places.mjs";
import { recordLeaks, recordStages, serve } from "./program.mjs";

const [leaks, stages] = await Promise.all([serve([recordLeaks()]), serve([recordStages()])]);
after(() => Promise.all([leaks.stop(), stages.stop()]));

const SIZES = [
  [{ width: 1400, height: 900 }, test],
  [{ width: 900, height: 700 }, testInWholeRun],
  // A window of 1400 × 900 at 200 %.
  [{ width: 700, height: 450 }, test],
];

/** Whether an element's box is inside the window. */
async function inWindow(page, element) {
  const { x, y, width, height } = await element.boundingBox();
  const { width: wide, height: high } = page.viewportSize();
  const box = `${width} × ${height} at ${x}, ${y} in ${wide} × ${high}`;
  assert.ok(width > 0 && height > 40, box);
  assert.ok(x >= 0 && y >= 0 && x + width <= wide && y + height <= high, box);
}

async function selectBox(page) {
  await page.getByRole("application", { name: /^Flame graph/ }).focus();
  for (let press = 0; press < 3; press++) await page.keyboard.press("ArrowUp");
  await page.locator(".flame-selection").getByRole("button", { name: "Zoom" }).waitFor();
}

for (const [size, testIt] of SIZES) {
  const at = `${size.width} × ${size.height}`;

  testIt(`the menu More opens inside a window of ${at}`, () =>
    visit(
      leaks.url,
      async (page) => {
        await selectBox(page);
        const more = page.getByRole("button", { name: "More", exact: true });
        await more.click();
        const menu = page.getByRole("menu");
        await menu.waitFor();
        await inWindow(page, menu);
        await page.keyboard.press("Escape");
        await menu.waitFor({ state: "hidden" });
        assert.equal(await more.evaluate((node) => node === document.activeElement), true, "the focus is back");
        await more.click();
        await menu.waitFor();
        await page.mouse.click(5, 5);
        await menu.waitFor({ state: "hidden" });
        await more.click();
        await menu.getByRole("menuitem", { name: "Only stacks with the function", exact: true }).click();
        await settled(page);
        assert.match(decodeURIComponent(page.url()), /f=in:/);
      },
      size,
    ),
  );

  testIt(`other menus open inside a window of ${at}, and Tab leaves them`, () =>
    visit(
      leaks.url,
      async (page) => {
        for (const [key, name] of [
          ["e", /^export/],
          ["f", /^add a filter/],
        ]) {
          await page.keyboard.press(key);
          const menu = page.getByRole("dialog", { name });
          await menu.waitFor();
          await inWindow(page, menu);
          await page.keyboard.press("Escape");
          await menu.waitFor({ state: "hidden" });
          await page.locator("button[aria-haspopup=dialog]:focus").waitFor();
        }
        await page.keyboard.press("e");
        const menu = page.getByRole("dialog", { name: /^export/ });
        await menu.locator(":focus").waitFor();
        for (let press = 0; press < 7; press++) await page.keyboard.press("Tab");
        await menu.waitFor({ state: "hidden" });
      },
      size,
    ),
  );

  testIt(`pictures have a height in a window of ${at}`, async () => {
    await visit(
      leaks.url,
      async (page) => {
        const { height } = await page.getByRole("application", { name: /^Flame graph/ }).boundingBox();
        assert.ok(height >= 120, `the flame graph is ${height} px high`);
        const reached = await page.evaluate(() => {
          document.querySelector(".flame-selection").scrollIntoView();
          return document.querySelector(".flame-selection").getBoundingClientRect().bottom <= innerHeight + 1;
        });
        assert.ok(reached, "what is below can be scrolled to");
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${wide} px too wide`);
      },
      size,
    );
    await visit(
      `${stages.url}#view=dominators`,
      async (page) => {
        const { height } = await page.locator(".treemap").boundingBox();
        assert.ok(height >= 120, `the map is ${height} px high`);
        for (const tab of await page.getByRole("tab").all()) {
          const { x, width } = await tab.boundingBox();
          assert.ok(x >= 0 && x + width <= size.width, "every tab is in the window");
        }
      },
      size,
    );
  });
}

test("a message leaves the line of actions free", () =>
  visit(leaks.url, async (page) => {
    await selectBox(page);
    await page.getByRole("button", { name: /Copy link/i }).click();
    const message = await page.locator(".notice").boundingBox();
    const actions = await page.locator(".flame-selection").boundingBox();
    assert.ok(message.y + message.height <= actions.y, `${message.y} + ${message.height} over ${actions.y}`);
  }));

test("what is selected is seen where colours are forced", async () => {
  const differ = (page, a, b) =>
    page.evaluate(
      ([a, b]) => {
        const look = (selector) => {
          const { backgroundColor, color, borderBottomColor } = getComputedStyle(document.querySelector(selector));
          return `${backgroundColor} ${color} ${borderBottomColor}`;
        };
        return look(a) !== look(b);
      },
      [a, b],
    );
  await visit(
    leaks.url,
    async (page) => {
      assert.ok(await differ(page, '[role=tab][aria-selected="true"]', '[role=tab][aria-selected="false"]'), "tabs");
      assert.ok(
        await differ(page, '[role=radio][aria-checked="true"]', '[role=radio][aria-checked="false"]'),
        "choices",
      );
    },
    { forcedColors: "active" },
  );
  await visit(
    `${stages.url}#view=roots`,
    async (page) => {
      await page.getByRole("treegrid").getByRole("row").nth(1).waitFor();
      assert.ok(await differ(page, '.grid-row[aria-selected="true"]', '.grid-row[aria-selected="false"]'), "rows");
      const swatch = await page
        .locator(".legend-row .swatch")
        .first()
        .evaluate((node) => getComputedStyle(node).backgroundColor);
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.notEqual(swatch, ground, "the legend's colours are there");
      await page.getByRole("tab", { name: "Dominators" }).click();
      await settled(page);
      const colours = await page.locator(".treemap canvas").evaluate((canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const seen = new Set();
        for (let at = 0; at < data.length; at += 4 * 97) seen.add(`${data[at]} ${data[at + 1]} ${data[at + 2]}`);
        return seen.size;
      });
      assert.ok(colours > 3, "boxes have different colours");
    },
    { forcedColors: "active" },
  );
});

test("the flame graph has a key to its colours", () =>
  visit(leaks.url, async (page) => {
    await page.getByRole("button", { name: "What the colours mean" }).click();
    const key = page.getByRole("dialog", { name: "What the colours mean" });
    await key.getByText("Leaks", { exact: true }).first().waitFor();
    const text = await key.innerText();
    assert.match(text, /the focus/);
    assert.match(text, /a place that allocates/);
    assert.match(text, /Leaks/, "modules in sight");
    const fill = (text) =>
      key
        .getByRole("listitem")
        .filter({ hasText: text })
        .first()
        .locator(".swatch")
        .evaluate((node) => node.style.background);
    assert.notEqual(await fill("the focus"), await fill("Leaks"));
  }));
