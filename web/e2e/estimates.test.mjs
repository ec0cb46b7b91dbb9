// Figures that the recorder knows to be wrong by more than their standard error have a mark, everywhere.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { settled, visit } from "./browser.mjs";
import { testIn } from "./places.mjs";
import { compileWithLibrary, fixture, memtrail, offline, record, serve } from "./program.mjs";

const SOURCE = `
let kept = ref []
let[@inline never] keep i = kept := Array.make 20 i :: !kept
let () =
  for i = 1 to 60_000 do keep i; ignore (Sys.opaque_identity (Array.make 30 i)) done;
  Gc.full_major ();
  Memtrail.dump "end";
  print_int (List.length !kept)
`;
const recording = record("low", [compileWithLibrary(SOURCE, "low")], ["--rate", "1e-2", "--snapshot", "request"]);
/** As an agent writes it that sees a minor heap of 512 words; Debian's OCaml 4 loses nothing in one. */
function lowered() {
  const file = join(recording, "recording.json");
  const description = JSON.parse(readFileSync(file, "utf8"));
  description.sampling.small_minor_heap = 512;
  description.runtime.version = "5.3";
  writeFileSync(file, JSON.stringify(description));
}
lowered();

/** `memtrail view`, ended with this file's tests whatever comes of them. */
async function served(recordings) {
  const server = await serve(recordings);
  after(() => server.stop());
  return server.url;
}

const SIZE = /[\d.]+ (?:B|KiB|MiB|GiB)\b/;

for (const [place, open] of [
  ["served", () => served([recording])],
  ["in one file", async () => offline([recording], [], "low")],
]) {
  testIn(place, "estimates that are too low have a mark on every tab", async () => {
    const url = await open();
    await visit(url, async (page) => {
      for (const half of ["Allocations", "Heap"]) {
        await page.getByRole("radio", { name: half, exact: true }).click();
        await settled(page);
        for (const name of await page.getByRole("tab").allInnerTexts()) {
          await page.getByRole("tab", { name, exact: true }).click();
          await settled(page);
          const badge = page.locator(".header .warning", { hasText: "too low" });
          assert.ok(await badge.isVisible(), `${half}: ${name}`);
          assert.match(await badge.getAttribute("title"), /minor heap of 512 words.*loses samples/);
        }
      }
      await page.getByRole("radio", { name: "Allocations", exact: true }).click();
      await page.getByRole("tab", { name: "Tables", exact: true }).click();
      await settled(page);
      const total = await page.getByLabel("what the filter leaves", { exact: true }).innerText();
      assert.equal(total.match(/≥/g).length, 4, total);
      const facts = await page.getByLabel("totals of the recording").innerText();
      assert.equal(facts.match(/≥/g).length, 3, facts);
      const cells = await page.getByRole("treegrid").getByRole("gridcell").allInnerTexts();
      const sizes = cells.filter((text) => SIZE.test(text));
      assert.ok(sizes.length > 3, cells.join());
      assert.deepEqual(
        sizes.filter((text) => !text.includes("≥")),
        [],
      );
      await page.getByRole("tab", { name: "Info", exact: true }).click();
      await settled(page);
      const info = await page.locator(".view").innerText();
      assert.match(info, /≥ estimates are too low: with a minor heap of 512 words/);
      assert.match(info, /promoted depends on the rate/);
      assert.match(info, /Live at the end\s*≥/);
      await page.getByRole("radio", { name: "Heap", exact: true }).click();
      await page.getByRole("tab", { name: "Sites", exact: true }).click();
      await settled(page);
      const rows = await page.getByRole("treegrid").innerText();
      assert.match(rows, /≥/);
      // What a snapshot says is exact.
      assert.doesNotMatch(await page.getByLabel("the snapshot").innerText(), /≥/);
    });
  });
}

test("comparing with such a recording, amounts of both sides have the mark", async () => {
  const url = await served([fixture("cache-v2.ctf"), recording]);
  await visit(`${url}#rec=1&view=compare`, async (page) => {
    await page.getByRole("radio", { name: "Table", exact: true }).click();
    await settled(page);
    assert.match(await page.locator(".view").innerText(), /≥[\d.]+ \w+/);
  });
});

test("a recording whose estimates are right has no mark", async () => {
  const url = await served([fixture("cache-v2.ctf")]);
  await visit(url, async (page) => {
    for (const name of await page.getByRole("tab").allInnerTexts()) {
      await page.getByRole("tab", { name, exact: true }).click();
      await settled(page);
      assert.doesNotMatch(await page.locator("body").innerText(), /≥|too low/, name);
    }
  });
});

const BIGARRAY = `
let kept = Array.init 200 (fun _ -> Bigarray.(Array1.create char c_layout 100_000))
let () = Gc.full_major (); print_int (Array.length kept)
`;

test("the page and the report explain the bytes of a bigarray", async () => {
  const recording = record("bigarray", [compileWithLibrary(BIGARRAY, "bigarray")], ["--rate", "1e-3"]);
  const meaning = /external is off-heap memory, such as the data of bigarrays.*a heap\s+snapshot shows/s;
  assert.match(execFileSync(memtrail, ["report", recording], { encoding: "utf8" }), meaning);
  const url = await served([recording]);
  await visit(url, async (page) => {
    const key = page.locator(".legend .key", { hasText: "external" });
    assert.match(await key.getAttribute("title"), meaning);
    await page.getByRole("tab", { name: "Info", exact: true }).click();
    await settled(page);
    assert.match(await page.locator(".view").innerText(), meaning);
  });
});
