// Starts Chromium, or finds the one that runs for all files.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

/** Starts a browser that test files connect to. */
export function launch() {
  const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
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
