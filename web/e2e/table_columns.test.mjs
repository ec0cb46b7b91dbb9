// Tables whose columns come and go: each row has a track of the grid for each of its cells.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { settled, visit } from "./browser.mjs";
import { compile, record, scratch, serve } from "./program.mjs";

/** Keeps more bigarrays in the last snapshot than in the first, so that tables have a column of off-heap memory. */
const KEEPS = `
type image = { name : string; pixels : (int, Bigarray.int8_unsigned_elt, Bigarray.c_layout) Bigarray.Array1.t }
let images : (int, image) Hashtbl.t = Hashtbl.create 64
let[@inline never] load n =
  let pixels = Bigarray.Array1.create Bigarray.int8_unsigned Bigarray.c_layout 50_000 in
  Bigarray.Array1.fill pixels 1;
  Hashtbl.replace images n { name = string_of_int n; pixels }
let () =
  for round = 1 to 5 do
    for i = 1 to 40 do load (round * 1000 + i) done;
    Gc.full_major ()
  done
`;

const source = join(scratch, "images.ml");
writeFileSync(source, KEEPS);
const moments = ["--snapshot", "every-major", "--snapshot", "exit"];
const recording = record("images", [compile(source, "images")], ["--rate", "1e-3", ...moments]);
const server = await serve([recording]);
after(() => server.stop());

/** Rows of which the visible cells are not as many as the tracks. */
const wrongRows = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll(".grid-row")]
      .map((row) => ({
        text: row.textContent,
        tracks: getComputedStyle(row).gridTemplateColumns.split(" ").length,
        cells: [...row.children].filter((cell) => getComputedStyle(cell).display !== "none").length,
      }))
      .filter(({ tracks, cells }) => tracks !== cells),
  );

const CHANGES = ["owners", "kinds", "roots"].map((of) => `changes&of=${of}`);

// One track was missing in the table of changes: the name had that of a number, and `new` was on top of the next row.
for (const width of [1440, 1000, 400]) {
  test(`the columns of off-heap memory have tracks of their own at ${width} pixels`, () =>
    visit(
      `${server.url}#view=kinds`,
      async (page) => {
        let outside = 0;
        for (const view of ["roots", "dominators&as=tree", "kinds", "containers", "blocks", ...CHANGES]) {
          await page.evaluate((hash) => (location.hash = hash), `view=${view}`);
          await settled(page);
          await page.locator(".grid-row:not(.grid-head)").first().waitFor();
          assert.deepEqual(await wrongRows(page), [], view);
          outside += await page.getByRole("columnheader", { name: "Off-heap", includeHidden: true }).count();
        }
        assert.ok(outside >= 5, `${outside} tables have the column`);
      },
      { width, height: 860 },
    ));
}
