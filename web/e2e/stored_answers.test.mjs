// A last snapshot that has no room in the file: its leaks and owners are there.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "node:test";
import { settled, visit } from "./browser.mjs";
import { memtrail, scratch } from "./program.mjs";

const folder = join(scratch, "stored-answers");
mkdirSync(folder);
const run = (...words) => execFileSync(memtrail, words, { cwd: folder, stdio: "pipe" });
run("demo", "--recorded", "--json", "-o", "leaks.memtrail");
run("html", "leaks.memtrail", "-o", "whole.html", "--max-size", "50M");
// Summaries get shorter first. The largest file without the last snapshot is wanted.
const step = 50_000;
let most = statSync(join(folder, "whole.html")).size;
let written;
do {
  most -= step;
  written = JSON.parse(run("html", "leaks.memtrail", "-o", "small.html", "--json", "--max-size", String(most)));
  assert.ok(written.bytes <= most, `${written.bytes} of ${most}`);
} while (written.recordings[0].snapshots.included.includes(written.recordings[0].snapshots.of));
const url = pathToFileURL(join(folder, "small.html")).href;

test("offline: leaks and owners of a last snapshot that is not in the file", () =>
  visit(url, async (page) => {
    const { of, included } = written.recordings[0].snapshots;
    assert.ok(!included.includes(of), JSON.stringify(written));
    await page.locator(".suspect").first().waitFor();
    assert.match(await page.locator(".suspects").innerText(), /Session_cache\.sessions keeps growing/);
    await page.goto(`${url}#view=roots`);
    await settled(page);
    const row = page.getByRole("treegrid").getByRole("row").filter({ hasText: "Session_cache.sessions" }).first();
    await row.waitFor();
    await page.goto(`${url}#view=kinds`);
    await page
      .getByText(/is not in this file/)
      .first()
      .waitFor();
  }));
