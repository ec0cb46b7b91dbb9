// Changes of the call tree: from the menu of a box or a row, by keys, as chips that can be removed, and undone.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { conditions, settled, state, visit } from "./browser.mjs";
import { testIn } from "./places.mjs";
import { compile, offline, record, scratch, serve } from "./program.mjs";

/** Six calls of a function inside each other, each of which keeps a large block, behind a module of two functions. */
const NESTED = `
let kept = ref []
module Tree = struct
  let rec build depth =
    kept := Bytes.create 40_000 :: !kept;
    if depth > 0 then 1 + (build [@inlined never]) (depth - 1) else 0
end
module Job = struct
  let[@inline never] one n = Unix.sleepf 0.005; Tree.build n + 1
  let[@inline never] all () = List.iter (fun n -> ignore (one n + 1)) (List.init 40 (fun _ -> 5))
end
let () = Job.all (); print_int (List.length !kept)
`;
writeFileSync(join(scratch, "nested_source.ml"), NESTED);
const program = compile(join(scratch, "nested_source.ml"), "nested");
const recording = record("nested", [program], ["--rate", "1e-2"]);
const server = await serve([recording]);
after(() => server.stop());
const places = [
  ["served", server.url],
  ["offline", offline([recording], [], "nested")],
];

const chart = (page) => page.getByRole("application", { name: /^Flame graph of/ });
const menu = (page) => page.getByRole("menu");
const rows = (page) => page.getByRole("treegrid").getByRole("row");
const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
  await settled(page);
};
const spoken = (page) => page.locator(".flame > .unseen").innerText();

for (const [place, url] of places) {
  testIn(place, "a function is merged into its callers by keys, and that is undone", () =>
    visit(`${url}#focus=Nested.Tree.build`, async (page) => {
      await chart(page).focus();
      await press(page, "ArrowDown", "m");
      await menu(page).getByRole("menuitem", { name: "Merge the function into its callers" }).waitFor();
      await press(page, "Escape");
      await menu(page).waitFor({ state: "hidden" });
      await press(page, "Shift+F10");
      await menu(page).waitFor();
      await press(page, "m");
      assert.deepEqual(await conditions(page), ["hiding Nested.Tree.build"]);
      assert.equal(state(page).get("f"), "hide:Nested.Tree.build");
      await page.getByText("Nothing of the selection passes through the focus").waitFor();
      await press(page, "u");
      assert.deepEqual(await conditions(page), []);
      await chart(page).waitFor();
    }),
  );

  testIn(place, "a module is collapsed by a right click on a row, and its chip removes that", () =>
    visit(`${url}#view=tables`, async (page) => {
      const row = (name) => rows(page).filter({ has: page.getByText(name, { exact: true }) });
      await row("Nested.Job.one").first().click({ button: "right" });
      await menu(page).getByRole("menuitem", { name: "Collapse module Nested.Job" }).click();
      await settled(page);
      assert.deepEqual(await conditions(page), ["collapsing module Nested.Job"]);
      await row("Nested.Job (module)").first().waitFor();
      assert.equal(await row("Nested.Job.one").count(), 0);
      await row("Nested.Job (module)").first().click({ button: "right" });
      await menu(page).getByRole("menuitem", { name: "Focus on the subtree" }).click();
      await settled(page);
      assert.equal(state(page).get("focus"), "module:Nested.Job");
      await chart(page).waitFor();
      await page.getByRole("button", { name: "remove: collapsing module Nested.Job" }).click();
      await settled(page);
      assert.deepEqual(await conditions(page), []);
    }),
  );

  testIn(place, "recursion is folded until it is shown", () =>
    visit(`${url}#focus=Nested.Tree.build&dir=callees`, async (page) => {
      const recursion = page.getByRole("button", { name: /^Recursion/ });
      assert.equal(await recursion.getAttribute("aria-pressed"), "false");
      await chart(page).focus();
      await press(page, "ArrowDown", "ArrowUp", "ArrowUp");
      assert.match(await spoken(page), /allocation site in Nested.Tree.build.*1 call after the focus/);
      await recursion.click();
      await settled(page);
      assert.equal(await recursion.getAttribute("aria-pressed"), "true");
      assert.equal(state(page).get("recursion"), "shown");
      await chart(page).focus();
      await press(page, "ArrowDown", "ArrowUp", "ArrowUp", "ArrowUp");
      assert.match(await spoken(page), /^Nested.Tree.build.*3 calls after the focus/);
    }),
  );

  testIn(place, "the flame graph is put in the order of time, and zoomed", () =>
    visit(`${url}#f=in:Nested.Job.one`, async (page) => {
      for (const [name, order, unit] of [
        ["Time", "time", / s$| ms$|^0$/],
        ["Allocated", "allocation", /B$/],
      ]) {
        await page.getByRole("radio", { name, exact: true }).click();
        await settled(page);
        assert.equal(state(page).get("order"), order);
        const marks = await page.locator(".flame-axis span").allInnerTexts();
        assert.ok(marks.length > 1, marks.join());
        for (const mark of marks) assert.match(mark, unit);
        await chart(page).focus();
        await press(page, "ArrowDown", "ArrowUp", "ArrowUp", "ArrowUp");
        assert.match(await spoken(page), / – .*3 calls after the focus/);
        await press(page, "+", "+", "+", "+", "+");
        await page.waitForFunction(
          (before) => document.querySelector(".flame-axis").innerText !== before,
          marks.join(""),
        );
        await settled(page);
        assert.match(await spoken(page), / – /);
        await press(page, "0");
      }
      await press(page, "m", "o");
      assert.equal((await conditions(page)).length, 2);
      await page.reload();
      await settled(page);
      assert.equal(state(page).get("order"), "allocation");
      await chart(page).waitFor();
    }),
  );

  testIn(place, "the call tree is inverted, and stacks are dropped", () =>
    visit(url, async (page) => {
      await chart(page).focus();
      await press(page, "ArrowDown", "m", "i");
      assert.equal(state(page).get("focus"), "<allocations>");
      assert.equal(state(page).get("dir"), "callers");
      await chart(page).focus();
      await press(page, "ArrowDown", "ArrowDown");
      assert.match(await spoken(page), /^allocation site in Nested.Tree.build.*1 call before the focus/);
      await press(page, "m", "d");
      assert.deepEqual(await conditions(page), ["not inside a call to Nested.Tree.build"]);
      await page.reload();
      await settled(page);
      assert.deepEqual(await conditions(page), ["not inside a call to Nested.Tree.build"]);
    }),
  );
}
