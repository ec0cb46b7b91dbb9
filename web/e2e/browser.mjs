// A real browser, and what every page must keep to: no error in the console, no request elsewhere.
import assert from "node:assert/strict";
import { after } from "node:test";
import { connect } from "./chromium.mjs";

const { browser, end } = await connect();
after(end);

/** Patience on a busy machine; no test depends on how long anything takes. */
const timeout = 90_000;

/** The window that visits without options of their own share: a new one costs more than most tests. */
let kept;

/** Opens a window, and writes into `wrong` of its visit what no page may do. */
async function open({ width, height, ...options }) {
  const context = await browser.newContext({ viewport: { width, height }, reducedMotion: "reduce", ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  // Of this page, and of those that a test opens beside it.
  context.setDefaultTimeout(timeout);
  const page = await context.newPage();
  const opened = { context, page, wrong: [], own: "" };
  const note = (text) => opened.wrong.push(text);
  page.on("console", (message) => message.type() === "error" && note(`console: ${message.text()}`));
  page.on("pageerror", (error) => note(`uncaught: ${error.message}`));
  page.on("dialog", (dialog) => (note(`dialog: ${dialog.message()}`), dialog.dismiss()));
  context.on("request", (request) => {
    const to = request.url();
    if (!to.startsWith(opened.own) && !to.startsWith("blob:") && !to.startsWith("data:")) note(`request to ${to}`);
  });
  return opened;
}

/**
 * Opens a page, hands it to `act`, and checks what it did meanwhile. A visit with options, or one that is `alone` because it
 * changes what its window does, has a window of its own.
 */
export async function visit(url, act, { width = 1280, height = 860, alone = false, ...options } = {}) {
  const isShared = !alone && Object.keys(options).length === 0;
  const opened = (isShared && kept) || (await open({ width, height, ...options }));
  kept = undefined;
  const { context, page } = opened;
  opened.wrong = [];
  opened.own = url.startsWith("file:") ? url.split("#")[0] : new URL(url).origin;
  let hasPassed = false;
  try {
    await page.setViewportSize({ width, height });
    await page.goto(url);
    await settled(page);
    await act(page, opened.wrong);
    assert.deepEqual(opened.wrong, []);
    hasPassed = isShared && !page.isClosed();
  } finally {
    if (hasPassed) {
      await leave(opened);
      kept = opened;
    } else {
      await context.close();
    }
  }
}

/** Leaves nothing of a visit to the next one. */
async function leave({ context, page }) {
  await page.evaluate(() => localStorage.clear());
  await page.mouse.move(0, 0);
  await page.goto("about:blank");
  for (const beside of context.pages()) if (beside !== page) await beside.close();
}

/** Waits until the page has all the answers it asked for: for two frames on end, as an answer can lead to a question. */
export async function settled(page) {
  await page.waitForSelector("[data-ready]", { state: "attached", timeout });
  const idle = () =>
    page.evaluate(async () => {
      const busy = () => document.querySelector("[data-busy]") !== null;
      const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      for (let frames = 0; frames < 2; frames++) {
        if (busy()) return false;
        await frame();
      }
      return !busy();
    });
  do await page.waitForFunction(() => !document.querySelector("[data-busy]"), null, { timeout });
  while (!(await idle()));
}

/** The conditions that are set, as the page says them. */
export const conditions = (page) => page.getByRole("list", { name: "Filters" }).getByRole("listitem").allInnerTexts();

/** The hash's parameters. */
export const state = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1));
