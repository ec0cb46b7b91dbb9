// Bundles each src/**/*.test.ts and runs them all with node's own test runner.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const web = dirname(fileURLToPath(import.meta.url));

function testsBelow(folder) {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".test.ts") && (!process.argv[2] || name.includes(process.argv[2])))
    .sort();
}

const out = mkdtempSync(join(web, "node_modules/.tests-"));
try {
  const names = testsBelow(join(web, "src"));
  if (names.length === 0) process.exit(0);
  await build({
    entryPoints: names.map((name) => join(web, "src", name)),
    outdir: out,
    outbase: join(web, "src"),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    sourcemap: "inline",
    logLevel: "warning",
    absWorkingDir: web,
  });
  const files = names.map((name) => join(out, name.replace(/\.ts$/, ".js")));
  const { status } = spawnSync(process.execPath, ["--enable-source-maps", "--test", "--test-reporter=tap", ...files], {
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
