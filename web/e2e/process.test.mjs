// Resident memory and garbage collections: over time beside live memory, and in all.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, test } from "node:test";
import { settled, state, visit } from "./browser.mjs";
import { memtrail, recordLeaks, serve } from "./program.mjs";

const recording = recordLeaks();
const server = await serve([recording]);
after(() => server.stop());
const report = JSON.parse(execFileSync(memtrail, ["report", "--json", recording], { encoding: "utf8" }));

test("the timeline has a strip of the collector's time, and resident memory on demand", () =>
  visit(server.url, async (page) => {
    const strip = page.getByRole("img", { name: /of the time in the GC: .* minor collections/ });
    await strip.waitFor();
    assert.equal(await strip.locator(".collector-span").count(), report.collections.over_time.length);
    const plot = page.locator(".plot");
    const box = await plot.boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    const readout = await page.locator(".readout").innerText();
    assert.match(readout, /resident\s+[\d.]+ MiB/);
    assert.match(readout, /in the GC\s+[<\d.]+ %/);
    await page.mouse.move(0, 0);
    const before = await plot.screenshot();
    await page.getByRole("button", { name: "RSS" }).click();
    await settled(page);
    assert.equal(state(page).get("rss"), "1");
    assert.notDeepEqual(await plot.screenshot(), before, "a line is drawn");
    await page.reload();
    await settled(page);
    assert.equal(await page.getByRole("button", { name: "RSS" }).getAttribute("aria-pressed"), "true");
  }));

test("Info has the table of resident memory and what the collector did, as the report does", () =>
  visit(`${server.url}#view=info`, async (page) => {
    const group = (title) => page.locator(".info section", { has: page.getByRole("heading", { name: title }) });
    const resident = await group("Resident memory").innerText();
    assert.match(resident, /malloc, in use\s+[\d.]+ [KM]iB, /);
    assert.match(resident, /RSS\s+[\d.]+ MiB after/);
    const collector = await group("Garbage collector").innerText();
    const minor = String(report.collections.minor_collections).replace(/\B(?=(\d{3})+$)/g, ",");
    assert.match(collector, new RegExp(`Minor collections\\s+${minor}, `));
    assert.match(collector, /Longest pauses\s+.* at .* \((minor collection|slice)\)/);
  }));
