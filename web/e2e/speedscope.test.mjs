// What `memtrail export --format speedscope` writes, opened in speedscope itself, from the disk.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { fixture, memtrail, scratch } from "./program.mjs";

const folder = dirname(createRequire(import.meta.url).resolve("speedscope/package.json"));
const index = pathToFileURL(join(folder, "dist/release/index.html")).href;
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
// It draws with WebGL, here in software.
const args = ["--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
const browser = await chromium.launch({ executablePath, args });
after(() => browser.close());

/** Opens a file in speedscope, and waits until it shows a profile of that name. */
async function open(file, name) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(`uncaught: ${error.message}`));
  page.on("dialog", (dialog) => (wrong.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("console", (message) => message.type() === "error" && wrong.push(`console: ${message.text()}`));
  await page.goto(index);
  await page.locator("input[type=file]").setInputFiles(file);
  await page.getByText("Sandwich").waitFor({ timeout: 60_000 });
  assert.match(await page.title(), name);
  return { page, wrong };
}

for (const [what, trace, name, function_] of [
  ["stacks of 9,982 frames", "lists_and_sets-v1.ctf", /lists_and_sets/, /frames omitted/],
  ["an ordinary recording", "cache-v2.ctf", /cache/, /Cache\./],
]) {
  test(`speedscope opens ${what}, draws it and sorts it`, async () => {
    const file = join(scratch, `${trace}.speedscope.json`);
    execFileSync(memtrail, ["export", "--format", "speedscope", "-o", file, fixture(trace)]);
    const { page, wrong } = await open(file, name);
    for (const view of ["Left Heavy", "Time Order", "Sandwich"]) {
      await page.getByText(view).click();
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    }
    // The table of functions, with the bytes of each.
    const rows = await page.locator("table tr").allInnerTexts();
    assert.ok(rows.length > 5, rows.join());
    assert.ok(
      rows.some((row) => /\d+(\.\d+)? (B|[KMG]B)/.test(row)),
      rows.join(),
    );
    assert.ok(
      rows.some((row) => function_.test(row)),
      rows.slice(0, 40).join("\n"),
    );
    assert.deepEqual(wrong, []);
    await page.context().close();
  });
}
