// Leak suspects of a program in C: call sites, and the way from one to its calls.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { conditions, settled, state, visit } from "./browser.mjs";
import { testIn } from "./places.mjs";
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

/** Loses a block for each request. */
const LOSES = `
#include <stdlib.h>
#include <string.h>
static __attribute__((noinline)) char *session(int n) { char *at = malloc(200); memset(at, n, 200); return at; }
int main(void) {
  char *volatile last = 0;
  for (int n = 0; n < 1000; n++) last = session(n);
  last = 0;
  return last != 0;
}
`;

function recordNative(name, text, options) {
  const source = join(scratch, `${name}.c`);
  writeFileSync(source, text);
  execFileSync("cc", ["-g", "-O1", "-o", join(scratch, name), source], { stdio: "pipe" });
  return record(name, [join(scratch, name)], ["--native", ...options]);
}

const folder = recordNative("pages", KEEPS, ["--rate", "1e-3"]);
const losing = recordNative("sessions", LOSES, ["--rate", "1", "--snapshot", "exit"]);
const server = await serve([folder]);
const servesLosing = await serve([losing]);
after(() => servesLosing.stop());
after(() => server.stop());
const places = [
  ["served", server.url],
  ["offline", offline([folder], [], "pages")],
];

for (const [place, url] of places) {
  testIn(place, "a recording of a C program is begun with its leak suspects", () =>
    visit(url, async (page) => {
      assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Leaks");
      const suspects = page.getByRole("region", { name: "Leak suspects" }).getByRole("list").first();
      await suspects.getByText(/allocated in render/).waitFor();
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
    }),
  );
}

test("blocks to which nothing refers are listed before the suspects", () =>
  visit(servesLosing.url, async (page) => {
    const blocks = page.getByRole("list", { name: "Unreachable blocks" });
    await blocks.getByText(/nothing refers to them \(conservative scan/).waitFor();
    await blocks.getByText(/allocated in session \(sessions\.c:4\)/).waitFor();
    assert.equal(await page.getByRole("alert").count(), 0);
  }));
