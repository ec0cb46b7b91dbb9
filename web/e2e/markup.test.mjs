// What a program can choose freely never becomes markup: its own name, labels, what its strings say.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { settled, visit } from "./browser.mjs";
import { testIn } from "./places.mjs";
import { compileWithLibrary, memtrail, offline, record, scratch, serve } from "./program.mjs";

const SCRIPT = "<script>window.stolen = 1</script>";
const IMAGE = "<img src=x onerror=window.stolen=2>";
// A file's name has no slash: this script would last to the end of the page.
const NAME = "<script>window.stolen = 3;<img src=x onerror=stolen=4>";

const SOURCE = `
let kept = ref []
let[@inline never] keep n =
  for i = 1 to n do kept := Printf.sprintf "</script>${SCRIPT}${IMAGE}%d" i :: !kept done
let () =
  Memtrail.with_label "${SCRIPT}" (fun () -> keep 3000);
  Memtrail.with_label "${IMAGE}" (fun () -> keep 3000);
  Gc.full_major ();
  Memtrail.dump "first ${SCRIPT}";
  Memtrail.with_label "</title></svg>${SCRIPT}" (fun () -> keep 3000);
  Gc.full_major ();
  Memtrail.dump "second ${IMAGE}";
  print_int (List.length !kept)
`;

const built = compileWithLibrary(SOURCE, "markup");
const program = join(dirname(built), NAME);
renameSync(built, program);
const recording = record(
  "markup",
  [program, SCRIPT, IMAGE],
  ["--rate", "1e-2", "--snapshot", "request", "--contents", "--context", `a context ${IMAGE}`],
);

/** Shows every view of both halves; the text of each. */
async function everyView(page) {
  const texts = {};
  for (const half of ["Allocations", "Heap"]) {
    await page.getByRole("radio", { name: half, exact: true }).click();
    await settled(page);
    for (const name of await page.getByRole("tab").allInnerTexts()) {
      await page.getByRole("tab", { name, exact: true }).click();
      await settled(page);
      texts[`${half}: ${name}`] = await page.locator("body").innerText();
      assert.equal(await page.evaluate(() => window.stolen), undefined, `${half}: ${name}`);
    }
  }
  return texts;
}

/** No element that only names could have made, and none with a handler. */
async function checkElements(page, scripts) {
  assert.equal(await page.locator("img, iframe, object, embed, form, [onload], [onerror], [onclick]").count(), 0);
  assert.equal(await page.locator("script").count(), scripts);
}

for (const [place, open] of [
  ["in one file", async () => ({ url: offline([recording], ["--contents"], "markup"), stop: async () => {} })],
  ["served", () => serve([recording])],
]) {
  testIn(place, "names, labels and strings never become markup", async () => {
    const { url, stop } = await open();
    await visit(url, async (page) => {
      const scripts = await page.locator("script").count();
      const texts = await everyView(page);
      const all = Object.values(texts).join("\n");
      for (const shown of ["<script>window.stolen = 1</script>", IMAGE, NAME, "a context <img"]) {
        assert.ok(all.includes(shown), `${shown} is shown as text`);
      }
      assert.ok(texts["Heap: Strings"].includes("</script><script>window.stolen"), texts["Heap: Strings"]);
      assert.match(
        await page
          .locator("option")
          .allInnerTexts()
          .then((all) => all.join()),
        /first <script>.*second <img/,
      );
      assert.ok((await page.title()).length > 0);
      await checkElements(page, scripts);
    });
    await stop();
  });
}

test("a picture of a flame graph has text in place of markup", async () => {
  const file = join(scratch, "markup.svg");
  execFileSync(memtrail, ["export", "--format", "svg", "-o", file, recording]);
  const picture = readFileSync(file, "utf8");
  assert.match(picture, /&lt;script&gt;/);
  assert.match(picture, /&lt;img src=x/);
  await visit(offline([recording], [], "markup"), async (page) => {
    // As an image of a page, and as markup: what is parsed is all that there is.
    const found = await page.evaluate((text) => {
      const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
      const all = [...parsed.querySelectorAll("*")];
      const attributes = all.flatMap((element) => [...element.attributes]);
      return {
        elements: [...new Set(all.map((element) => element.localName))].toSorted(),
        handlers: attributes.filter(({ name, value }) => /^on|href$/i.test(name) || /javascript:/i.test(value)).length,
      };
    }, picture);
    assert.deepEqual(found, { elements: ["g", "rect", "svg", "text", "title"], handlers: 0 });
    assert.equal(await page.evaluate(() => window.stolen), undefined);
  });
});

test("the token is in no title and in no Referer, and no link leads out of the page", async () => {
  const server = await serve([recording]);
  const token = new URL(server.url).pathname.replaceAll("/", "");
  const headers = [];
  const own = server.url.split("#")[0];
  await visit(server.url, async (page) => {
    // Of a request that is over, all headers are known; those of a page that is gone cannot be asked for any more.
    const look = (request) => headers.push(request.allHeaders().catch(() => undefined));
    page.on("requestfinished", look);
    await page.reload();
    await settled(page);
    const texts = await everyView(page);
    page.off("requestfinished", look);
    const referers = (await Promise.all(headers)).filter(Boolean).map(({ referer }) => referer);
    assert.ok(!Object.values(texts).join().includes(token), "no view shows it");
    assert.ok(!(await page.title()).includes(token));
    assert.ok(referers.length > 5, "there were requests");
    assert.deepEqual(referers.filter(Boolean), []);
    assert.equal(await page.evaluate(() => document.referrer), "");
    const links = await page.locator("a[href]").evaluateAll((all) => all.map((link) => link.href));
    assert.deepEqual(
      links.filter((link) => !link.startsWith(own)),
      [],
    );
    const stored = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    );
    assert.ok(!stored.includes(token), stored);
  });
  await server.stop();
});
