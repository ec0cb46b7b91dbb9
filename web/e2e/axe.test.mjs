// What axe-core finds wrong with the page for people who use it by keyboard or screen reader.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, test } from "node:test";
import { settled, visit } from "./browser.mjs";
import { testInWholeRun } from "./places.mjs";
import { recordStages, serve } from "./program.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const server = await serve([recordStages()]);
after(() => server.stop());

const VIEWS = [
  "flame",
  "tables",
  "lifetimes",
  "compare",
  "info",
  "roots",
  "dominators",
  "kinds",
  "paths",
  "stack",
  "changes",
  "sites",
  "strings",
  "blocks",
  "why&why=Stages.fill&within=1",
  "who&who=name:string",
];

for (const [colorScheme, testIt] of [
  ["light", test],
  ["dark", testInWholeRun],
]) {
  testIt(`axe finds nothing in any view (${colorScheme})`, () =>
    visit(
      `${server.url}#view=flame`,
      async (page) => {
        const look = async (where) => {
          const found = await page.evaluate(async () => {
            const { violations } = await window.axe.run(document, {
              runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"],
            });
            return violations.map(
              ({ id, nodes }) =>
                `${id}: ${nodes.map((node) => `${node.html.slice(0, 160)} ${node.any[0]?.message ?? ""}`).join("\n  ")}`,
            );
          });
          assert.deepEqual(found, [], where);
        };
        // Not as an element: the page's own policy forbids that.
        await page.evaluate(axe);
        for (const view of VIEWS) {
          await page.evaluate((view) => (location.hash = `view=${view}&snap=3`), view);
          await settled(page);
          await look(view);
        }
        await page.evaluate(() => (location.hash = "view=flame"));
        await settled(page);
        await page.getByRole("button", { name: "What the colours mean" }).click();
        await page.getByText("the focus", { exact: true }).waitFor();
        await look("the key to the colours");
      },
      { colorScheme },
    ),
  );
}
