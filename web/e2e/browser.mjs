// A real browser, and what every page must keep to: no error in the console, no request elsewhere.
import assert from "node:assert/strict";
import { after } from "node:test";
import { connect } from "./chromium.mjs";

const { browser, end } = await connect();
after(end);

/** Patience on a busy machine; no test depends on how long anything takes. */
const timeout = 90_000;

/** Opens a page, hands it to `act`, and checks what it did meanwhile. */
export async function visit(url, act, { width = 1280, height = 860, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, reducedMotion: "reduce", ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  // Of this page, and of those that a test opens beside it.
  context.setDefaultTimeout(timeout);
  const page = await context.newPage();
  const wrong = [];
  const own = url.startsWith("file:") ? url.split("#")[0] : new URL(url).origin;
  page.on("console", (message) => message.type() === "error" && wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`uncaught: ${error.message}`));
  page.on("dialog", (dialog) => (wrong.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  context.on("request", (request) => {
    const to = request.url();
    if (!to.startsWith(own) && !to.startsWith("blob:") && !to.startsWith("data:")) wrong.push(`request to ${to}`);
  });
  try {
    await page.goto(url);
    await settled(page);
    await act(page, wrong);
    assert.deepEqual(wrong, []);
  } finally {
    await context.close();
  }
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
