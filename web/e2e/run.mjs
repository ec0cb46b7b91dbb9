// Runs the tests that need a browser, with node's own test runner. An argument chooses by name.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const all = readdirSync(here).filter((name) => name.endsWith(".test.mjs"));
const named = all.filter((name) => !process.argv[2] || name.includes(process.argv[2]));
if (named.length === 0) process.exit(0);
const options = ["--test", "--test-reporter=tap", "--test-concurrency=2"];
const { status } = spawnSync(process.execPath, [...options, ...named.map((name) => join(here, name))], {
  stdio: "inherit",
  // As under cargo: tests of the names of variables search for them by `memtrail types`.
  env: { ...process.env, MEMTRAIL_TYPES: "off" },
});
process.exitCode = status ?? 1;
