// Draws the pictures of docs/viewer.md. `cargo xtask picture` runs it with two recordings of the demo's program: one
// of its leaks mended, and as it is.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { settled, visit } from "./e2e/browser.mjs";
import { repository, serve } from "./e2e/program.mjs";

const folder = join(repository, "docs/viewer");
mkdirSync(folder, { recursive: true });
const [mended, leaking] = process.argv.slice(2);

/** One picture: the state of the page, and what is done there before. */
async function picture(url, name, state, act = async () => {}) {
  await visit(
    `${url}#${state}`,
    async (page) => {
      await act(page);
      await settled(page);
      await page.screenshot({ path: join(folder, `${name}.png`) });
    },
    { width: 1280, height: 800, colorScheme: "light" },
  );
  console.log(`docs/viewer/${name}.png`);
}

const leaks = "f=allocated:10%25..90%25&f=live:end";
const one = await serve([leaking]);
await picture(one.url, "open", "view=flame");
await picture(one.url, "leaks", leaks);
await picture(one.url, "focus", leaks, (page) =>
  page.locator("button.hot-fragment", { hasText: "Leaks.Session_cache.load" }).first().click(),
);
await picture(one.url, "lifetimes", "view=lifetimes&f=in:Leaks.Outbox.post");
await picture(one.url, "heap-leaks", "view=leaks");
await picture(one.url, "heap-roots", "view=roots");
await picture(one.url, "heap-map", "view=dominators");
await picture(one.url, "heap-block", "view=sites", async (page) => {
  await page
    .getByRole("row", { name: /leaks\.ml:37/ })
    .first()
    .click();
  await page.getByRole("button", { name: "The one that retains most" }).click();
});
await one.stop();
const two = await serve([leaking, mended]);
await picture(two.url, "compare", "view=compare&f=live:end");
await two.stop();
process.exit(0);
