// Snapshots of a program that runs: the page asks for them, and they appear on the curve.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { settled, state, visit } from "./browser.mjs";
import { recordKept, serve, startKeeping } from "./program.mjs";

test("a snapshot is taken by a button, and the views follow", async () => {
  const { folder, grow, end } = startKeeping("asked");
  await grow();
  assert.ok(existsSync(join(folder, "trace.ctf")));
  const server = await serve([folder]);
  await visit(server.url, async (page) => {
    const curve = page.getByRole("slider", { name: "Snapshot" });
    const button = page.getByRole("button", { name: "Take a snapshot now" });
    const row = page.getByRole("treegrid").getByRole("row").filter({ hasText: "Keeps" }).first();
    const shown = (count) =>
      page.waitForFunction(
        (count) => document.querySelector("[role=slider][aria-label=Snapshot]")?.ariaValueMax === String(count),
        count,
      );
    await page.getByRole("radio", { name: "Heap" }).click();
    await page.getByText("no snapshot yet").first().waitFor();
    await button.click();
    await shown(1);
    assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Leaks");
    await page.getByRole("tab", { name: "Roots" }).click();
    await row.waitFor();
    const before = await row.innerText();
    await grow();
    await button.click();
    await shown(2);
    await page.waitForFunction(
      (before) => !document.querySelector("[role=treegrid]")?.textContent?.includes(before),
      before.split("\n")[1],
    );
    assert.equal(await curve.getAttribute("aria-valuenow"), "2", "the last one is followed");
    assert.equal(state(page).get("snap"), null);
    assert.equal(await end(), 0);
    await button.waitFor({ state: "hidden" });
    await settled(page);
  });
  await server.stop();
});

test("a snapshot file alone is a heap half without allocations", async () => {
  const folder = await recordKept("alone", 1);
  const server = await serve([join(folder, "0001.heap")]);
  await visit(server.url, async (page) => {
    assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Roots");
    await page.getByRole("row").filter({ hasText: "Keeps" }).first().waitFor();
    assert.equal(await page.getByRole("radio", { name: "Allocations" }).count(), 0);
    assert.equal(await page.getByRole("tab", { name: "Sites" }).count(), 0);
    await page.getByRole("tab", { name: "Dominators" }).click();
    await settled(page);
    await page.getByRole("tab", { name: "Changes" }).click();
    await page.getByText("There is only one snapshot").waitFor();
  });
  await server.stop();
});
