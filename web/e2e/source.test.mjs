// Source lines beside what is selected, with what each allocates.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";
import { settled, visit } from "./browser.mjs";
import { testIn } from "./places.mjs";
import { compile, offline, record, scratch, serve } from "./program.mjs";

const PROGRAM = `let table : (int, bytes) Hashtbl.t = Hashtbl.create 16

let[@inline never] load n = Bytes.make (4096 + n) 'x'

let[@inline never] remember n =
  let page = load n in
  Hashtbl.replace table n page (* </script><img src=x onerror=alert(1)> *)

let () =
  for n = 1 to 2000 do
    remember n
  done;
  print_int (Hashtbl.length table)
`;

const sources = join(scratch, "sources");
mkdirSync(sources);
writeFileSync(join(sources, "pages.ml"), PROGRAM);
const recording = record("pages", [compile(join(sources, "pages.ml"), "pages")], ["--rate", "1e-3"]);
const server = await serve([recording], ["--source", sources, "--editor", "editor://{path}?{line},{column}"]);
const without = await serve([recording]);
after(() => Promise.all([server.stop(), without.stop()]));
const places = [
  ["served", server.url],
  ["offline", offline([recording], ["--source", sources], "sources")],
];

const panel = (page) => page.getByRole("complementary", { name: "Source" });
const line = (page, number) => panel(page).getByRole("row").nth(number);

for (const [place, url] of places) {
  testIn(place, "the source of a selected function has what its lines allocate", () =>
    visit(`${url}#view=tables&find=remember`, async (page) => {
      await page.getByRole("treegrid").getByRole("row").filter({ hasText: "Pages.remember" }).first().click();
      await settled(page);
      await page.getByRole("button", { name: "Source", exact: true }).click();
      await settled(page);
      assert.equal(await line(page, 7).locator(".source-text").innerText(), PROGRAM.split("\n")[6]);
      // The page itself is allocated inside the call.
      const [total, self] = await line(page, 6).getByRole("cell").allInnerTexts();
      assert.match(total, /MiB$/);
      assert.equal(self, "");
      assert.equal(await panel(page).locator("tr[aria-current]").count(), 1);
      const links = panel(page).getByRole("link");
      if (place === "offline") return assert.equal(await links.count(), 0);
      assert.match(await links.first().getAttribute("href"), /^editor:\/\/.*\/sources\/pages\.ml\?\d+,\d+$/);
    }),
  );

  testIn(place, "a box of the flame graph leads to its source, which follows the selection", () =>
    visit(`${url}#view=flame&focus=Pages.remember&dir=callees`, async (page) => {
      await page.getByRole("application", { name: /^Flame graph of/ }).focus();
      await page.keyboard.press("ArrowDown");
      await settled(page);
      await page.getByRole("button", { name: "Source", exact: true }).click();
      await settled(page);
      await panel(page).getByText("pages.ml").first().waitFor();
      await page.getByRole("radio", { name: "Points of interest" }).click();
      await page.getByRole("radio", { name: "Source" }).click();
      await settled(page);
      await panel(page).getByText("pages.ml").first().waitFor();
    }),
  );
}

test("without source files there is no panel for them", () =>
  visit(`${without.url}#view=tables&find=remember`, async (page) => {
    await page.getByRole("treegrid").getByRole("row").filter({ hasText: "Pages.remember" }).first().click();
    await settled(page);
    assert.equal(await page.getByRole("button", { name: "Source", exact: true }).count(), 0);
    assert.equal(await page.getByRole("radio", { name: "Source" }).count(), 0);
  }));

// An editor that listens on a port replaced the page.
test("a click on a line's number asks the editor for it, and the page stays", async () => {
  const asked = [];
  const editor = createServer((request, response) => {
    asked.push(request.url);
    response.end();
  });
  await new Promise((listens) => editor.listen(0, "127.0.0.1", listens));
  const address = `http://127.0.0.1:${editor.address().port}`;
  const server = await serve([recording], ["--source", sources, "--editor", `${address}/open?file={path}&line={line}`]);
  try {
    await visit(`${server.url}#view=tables&find=remember`, async (page, wrong) => {
      await page.getByRole("treegrid").getByRole("row").filter({ hasText: "Pages.remember" }).first().click();
      await settled(page);
      await page.getByRole("button", { name: "Source", exact: true }).click();
      await settled(page);
      const opened = page.context().waitForEvent("page");
      await panel(page).getByRole("link", { name: "6", exact: true }).click();
      await (await opened).waitForLoadState();
      assert.match(asked[0], /\/sources\/pages\.ml&line=6$/);
      await panel(page).waitFor();
      const others = wrong.filter((line) => !line.startsWith(`request to ${address}/`));
      wrong.splice(0, wrong.length, ...others);
    });
  } finally {
    editor.close();
    await server.stop();
  }
});
