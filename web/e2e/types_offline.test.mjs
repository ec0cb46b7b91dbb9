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
    const row = rows(page).filter({ hasText: "session" }).first();
    await row.waitFor();
    const text = await rows(page).allInnerTexts();
    assert.ok(
      text.some((line) => line.includes("(string, session) Hashtbl.t (Cons)")),
      text.join("\n"),
    );
    await row.click();
    await page.getByRole("tab", { name: "Paths", exact: true }).click();
    await settled(page);
    const path = await page.locator("main").innerText();
    assert.match(path, /Session_cache\.sessions/);
  }));
