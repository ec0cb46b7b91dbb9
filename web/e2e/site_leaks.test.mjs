// Leak suspects of a program in C: call sites, and the way from one to its calls.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { conditions, settled, state, visit } from "./browser.mjs";
import { offline, record, scratch, serve } from "./program.mjs";

/** Keeps a page for each request, and frees the request. */
const KEEPS = `
#include <stdlib.h>
#include <string.h>
static char *pages[20000];
static __attribute__((noinline)) char *render(int n) { char *page = malloc(2000); memset(page, n, 2000); return page; }
static __attribute__((noinline)) void handle(int n) {
  char *request = malloc(3000);
  memset(request, n, 3000);
  pages[n] = render(n);
  free(request);
}
int main(void) {
  for (int n = 0; n < 20000; n++) handle(n);
  return pages[7][0] != 7;
}
`;

function recordNative(name) {
  const source = join(scratch, `${name}.c`);
  writeFileSync(source, KEEPS);
  execFileSync("cc", ["-g", "-O1", "-o", join(scratch, name), source], { stdio: "pipe" });
  return record(name, [join(scratch, name)], ["--native", "--rate", "1e-3"]);
}

const folder = recordNative("pages");
const server = await serve([folder]);
after(() => server.stop());
const places = [
  ["served", server.url],
  ["offline", offline([folder], [], "pages")],
];

for (const [place, url] of places) {
  test(`${place}: a recording of a C program is begun with its leak suspects`, () =>
    visit(url, async (page) => {
      assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Leaks");
      const suspects = page.getByRole("region", { name: "Leak suspects" }).getByRole("list").first();
      await suspects.getByText(/render/).waitFor();
      assert.equal(await suspects.getByRole("listitem").count(), 1);
      await suspects.getByRole("button", { name: "Its calls" }).click();
      await settled(page);
      assert.equal(state(page).get("view"), null);
      const shown = await conditions(page);
      assert.ok(
        shown.some((text) => text.includes("live at the end")),
        shown,
      );
      assert.ok(
        shown.some((text) => text.includes("render")),
        shown,
      );
      assert.equal(await page.getByRole("alert").count(), 0);
      await page.goBack();
      await settled(page);
      assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Leaks");
    }));
}
