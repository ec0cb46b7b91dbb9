// Leak suspects of a program with a child, both of which leak: the first page of all together, and the way to one.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after } from "node:test";
import { settled, state, visit } from "./browser.mjs";
import { testIn } from "./places.mjs";
import { compile, offline, record, serve } from "./program.mjs";

/** Each keeps pages; the child keeps more of them. */
const source = join(import.meta.dirname, "../../tests/programs/leaking_family.ml");
const options = ["--rate", "1e-3", "--children", "--snapshot", "exit"];
const folder = record("forks", [compile(source, "forks")], options);
const server = await serve([folder]);
after(() => server.stop());
const places = [
  ["served", server.url],
  ["offline", offline([folder], [], "forks")],
];

for (const [place, url] of places) {
  testIn(place, "a family is begun with the leak suspects of all its processes", () =>
    visit(url, async (page) => {
      assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Leaks");
      const region = page.getByRole("region", { name: "Leak suspects" });
      const suspects = region.getByRole("list").first();
      await suspects
        .getByText(/Forks\.remember/)
        .first()
        .waitFor();
      assert.equal(await suspects.getByRole("listitem").count(), 2);
      const owners = await suspects.getByText(/^in forks-\d+$/).allInnerTexts();
      assert.equal(new Set(owners).size, 2, `${owners}`);
      const processes = await region.getByRole("list", { name: "Processes" }).getByRole("listitem").allInnerTexts();
      assert.equal(processes.length, 2);
      assert.ok(
        processes.every((text) => /alive, [\d,]+ owners, 1 snapshot/.test(text)),
        `${processes}`,
      );

      // From a suspect to its process: what is in it, and the leaks of that one alone.
      const first = suspects.getByRole("listitem").first();
      await first.getByRole("button", { name: /^Leaks of forks-/ }).click();
      await settled(page);
      assert.equal(state(page).get("view"), "leaks");
      const chosen = await page.getByRole("combobox", { name: "recording" }).inputValue();
      assert.notEqual(chosen, "0");
      const own = page.getByRole("region", { name: "Leak suspects" }).getByRole("list").first();
      await own
        .getByText(/Forks\.remember/)
        .first()
        .waitFor();
      assert.equal(await own.getByRole("listitem").count(), 1);
      await page.goBack();
      await settled(page);
      await first.getByRole("button", { name: "What is in it" }).click();
      await settled(page);
      assert.equal(state(page).get("view"), "dominators");
      assert.equal(await page.getByRole("alert").count(), 0);
    }),
  );
}
