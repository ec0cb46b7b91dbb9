// A page that is a file knows the names and the types that `memtrail types` stored in the recording.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { settled, visit } from "./browser.mjs";
import { memtrail, offline, scratch } from "./program.mjs";

// The demo stores the types of its program, which is gone afterwards.
const folder = join(scratch, "demo");
mkdirSync(folder);
execFileSync(memtrail, ["demo", "--json"], { cwd: folder, stdio: "pipe" });
const recording = join(
  folder,
  readdirSync(folder).find((name) => name.endsWith(".memtrail")),
);
const url = offline([recording], [], "typed");

const rows = (page) => page.getByRole("treegrid").getByRole("row");

test("offline: a root is a variable with its type", () =>
  visit(`${url}#view=roots`, async (page) => {
    const row = rows(page).filter({ hasText: "Session_cache.sessions" }).first();
    await row.waitFor();
    assert.match(await row.innerText(), /\(string, session\) Hashtbl\.t/);
  }));

test("offline: kinds are types, and paths are in the program's words", () =>
  visit(`${url}#view=kinds`, async (page) => {
    const row = rows(page).filter({ hasText: "Hashtbl.bucketlist (Cons)" }).first();
    await row.waitFor();
    const text = await rows(page).allInnerTexts();
    assert.ok(
      text.some((line) => line.includes("(string, Leaks.Session_cache.session) Hashtbl.bucketlist (Cons)")),
      text.join("\n"),
    );
    await row.click();
    assert.match(await page.locator(".tables-actions").innerText(), /type from a variable/);
    await page.getByRole("button", { name: "Paths to them" }).click();
    await settled(page);
    const graph = page.getByRole("application", { name: /Paths from the roots to .*bucketlist/ });
    await graph.focus();
    for (let press = 0; press < 12; press++) await page.keyboard.press("ArrowDown");
    await settled(page);
    await page.getByRole("button", { name: "The largest block" }).click();
    await settled(page);
    const path = await page.locator(".view").innerText();
    assert.match(path, /Session_cache\.sessions/);
    assert.match(path, /in hashtbl of [0-9,]+ entries/);
    await page.getByRole("checkbox", { name: "steps inside containers" }).check();
    await settled(page);
    assert.match(await page.locator(".view").innerText(), /\.data/);
  }));

// The chart was drawn before the snapshot was open, and went on to show `Leaks / field 19`.
test("offline: the chart over time has names of variables", () =>
  visit(url, async (page) => {
    const legend = page.getByLabel("what the areas are");
    await legend.getByText("Leaks.Listeners.subscribed").waitFor();
    assert.doesNotMatch(await legend.innerText(), /field \d/);
  }));
