// Builds the page into crates/server/assets: index.html, viewer.js, viewer.css, offline.js.
// The same sources give the same bytes; `cargo xtask test` builds again and compares.
import { build } from "esbuild";
import { copyFile, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const web = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(web, "../crates/server/assets");
const limit = 150_000;

const options = {
  bundle: true,
  minify: true,
  target: ["chrome123", "firefox128", "safari17.5"],
  legalComments: "none",
  charset: "utf8",
  logLevel: "warning",
  absWorkingDir: web,
};

/** `worker:FILE` is the text of a bundled script: an offline page starts it from a Blob. */
const workerText = {
  name: "worker text",
  setup(build) {
    build.onResolve({ filter: /^worker:/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.slice("worker:".length)),
      namespace: "worker",
    }));
    build.onLoad({ filter: /.*/, namespace: "worker" }, async ({ path }) => {
      const { outputFiles } = await buildScript({ entryPoints: [path], write: false, format: "iife" });
      return { contents: outputFiles[0].text, loader: "text" };
    });
  },
};

function buildScript(more) {
  return build({ ...options, ...more });
}

await mkdir(out, { recursive: true });
await buildScript({
  entryPoints: { viewer: join(web, "src/main.tsx"), offline: join(web, "src/offline.ts") },
  outdir: out,
  format: "iife",
  plugins: [workerText],
});
await copyFile(join(web, "index.html"), join(out, "index.html"));

let total = 0;
// What is served; pages that are opened from disk have `offline.js` as well.
for (const name of ["index.html", "viewer.css", "viewer.js"]) {
  const size = gzipSync(await readFile(join(out, name)), { level: 9 }).length;
  total += size;
  console.log(`${name.padEnd(12)} ${String(size).padStart(7)} bytes gzipped`);
}
console.log(`${"page".padEnd(12)} ${String(total).padStart(7)} of ${limit}`);
if (total > limit) {
  console.error(`the page is too heavy: ${total} bytes gzipped, limit ${limit}`);
  process.exit(1);
}
