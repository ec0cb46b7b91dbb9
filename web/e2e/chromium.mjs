// Starts Chromium, or finds the one that runs for all files.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { isWholeRun } from "./whole_run.mjs";

const whole = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/**
 * Chromium without windows and without what surrounds a page: opening one takes 0.9 s of CPU time, not 2.3. The tests of
 * each change run in it, those of `--all` in the one that people use.
 */
const shell = "/usr/bin/chromium-headless-shell";

/** Starts a browser that test files connect to. */
export function launch() {
  const executablePath = (isWholeRun ? whole : [shell, ...whole]).find(existsSync);
  if (!executablePath) throw new Error("there is no Chromium; `cargo xtask setup` installs it");
  return chromium.launchServer({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });
}

/** Connects to the browser of this run, or starts one for a file that is run alone. Gives it and what ends it. */
export async function connect() {
  if (process.env.MEMTRAIL_BROWSER) {
    const browser = await chromium.connect(process.env.MEMTRAIL_BROWSER);
    return { browser, end: () => browser.close() };
  }
  const server = await launch();
  return { browser: await chromium.connect(server.wsEndpoint()), end: () => server.close() };
}
