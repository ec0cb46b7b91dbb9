// Runs the tests that need a browser, with node's own test runner. An argument chooses by name.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "./chromium.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const all = readdirSync(here).filter((name) => name.endsWith(".test.mjs"));
const named = all.filter((name) => !process.argv[2] || name.includes(process.argv[2]));
if (named.length === 0) process.exit(0);

// One browser and one folder of recordings for all files: each test has a context of its own.
const browser = await launch();
const shared = mkdtempSync(join(tmpdir(), "memtrail-e2e-shared-"));
const options = ["--test", "--test-reporter=tap", "--test-concurrency=3"];
const tests = spawn(process.execPath, [...options, ...named.map((name) => join(here, name))], {
  stdio: "inherit",
  env: {
    ...process.env,
    // As under cargo: tests of the names of variables search for them by `memtrail types`.
    MEMTRAIL_TYPES: "off",
    MEMTRAIL_BROWSER: browser.wsEndpoint(),
    MEMTRAIL_SHARED: shared,
  },
});
process.exitCode = await new Promise((ended) => tests.on("exit", (code) => ended(code ?? 1)));
await browser.close();
rmSync(shared, { recursive: true, force: true });
