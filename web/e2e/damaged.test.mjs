// Snapshots that are cut off, deleted or refused: figures of a part are marked, and nothing is waited for.
import assert from "node:assert/strict";
import { cpSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { settled, visit } from "./browser.mjs";
import { testIn } from "./places.mjs";
import { offline, recordKept, scratch, serve } from "./program.mjs";

const kept = await recordKept("whole", 4);

/** A copy of the recording, to be damaged, without what an analysis has left. */
function copy(name) {
  const folder = join(scratch, `${name}.memtrail`);
  cpSync(kept, folder, { recursive: true, filter: (path) => !/\.heap\.(index|summary)/.test(path) });
  return folder;
}

const snapshotOf = (folder, number) => join(folder, `000${number}.heap`);
const curve = (page) => page.getByRole("slider", { name: "Snapshot" });
const strip = (page) => page.getByRole("region", { name: "the heap over time" });
const facts = (page) => page.getByLabel("the snapshot", { exact: true });
const isQuiet = (page) => page.waitForFunction(() => !document.querySelector(".spinner"));

/** Takes the browser's own complaints about refused requests out of what went wrong. */
function forgiveRefusals(wrong) {
  for (let at = wrong.length - 1; at >= 0; at--) if (/Failed to load/.test(wrong[at])) wrong.splice(at, 1);
}

test("a snapshot that is deleted while the page is open is said to be unreadable, and not waited for", async () => {
  const folder = copy("deleted");
  const server = await serve([folder]);
  await visit(`${server.url}#view=roots`, async (page, wrong) => {
    await isQuiet(page);
    assert.equal(await curve(page).getAttribute("aria-valuemax"), "4");
    rmSync(snapshotOf(folder, 2));
    await page.evaluate(() => (location.hash = "view=roots&snap=2"));
    await page.locator(".view").getByRole("alert").waitFor();
    assert.match(
      await page.locator(".view").getByRole("alert").innerText(),
      /cannot read the snapshot: .*No such file/,
    );
    await isQuiet(page);
    await settled(page);
    await facts(page).getByText("cannot be read").waitFor();
    await strip(page)
      .getByText(/^snapshot 2: cannot read the snapshot/)
      .waitFor();
    // The others are still shown.
    await curve(page).focus();
    await page.keyboard.press("End");
    await settled(page);
    assert.equal(await curve(page).getAttribute("aria-valuenow"), "4");
    await page.getByRole("treegrid").getByRole("row").filter({ hasText: "Keeps" }).first().waitFor();
    forgiveRefusals(wrong);
  });
  await server.stop();
});

test("a snapshot that is deleted before it was analysed is counted, and not waited for", async () => {
  const folder = copy("deleted-early");
  const server = await serve([folder]);
  for (const number of [2, 4]) rmSync(snapshotOf(folder, number));
  await visit(`${server.url}#view=roots`, async (page, wrong) => {
    await strip(page).getByText("2 of 4 snapshots cannot be read").waitFor();
    await isQuiet(page);
    // The last one that can be read is shown in place of the last.
    await page.getByRole("treegrid").getByRole("row").filter({ hasText: "Keeps" }).first().waitFor();
    assert.equal(await curve(page).getAttribute("aria-valuenow"), "3");
    await page.getByRole("tab", { name: "Changes" }).click();
    await page.getByRole("radio", { name: "Growth" }).click();
    await page
      .locator(".view")
      .getByText(/; 1 cannot be read/)
      .waitFor();
    await settled(page);
    forgiveRefusals(wrong);
  });
  await server.stop();
});

test("where every snapshot is deleted, the page says that and nothing turns", async () => {
  const folder = copy("deleted-all");
  const server = await serve([folder]);
  for (const number of [1, 2, 3, 4]) rmSync(snapshotOf(folder, number));
  await visit(`${server.url}#view=roots`, async (page, wrong) => {
    await strip(page).getByText("4 of 4 snapshots cannot be read").waitFor();
    await page.locator(".view").getByRole("alert").waitFor();
    await isQuiet(page);
    await settled(page);
    assert.doesNotMatch(await page.locator("body").innerText(), /NaN|Infinity|undefined|\bnull\b/);
    forgiveRefusals(wrong);
  });
  await server.stop();
});

/** The recording with its last snapshot cut to some three quarters. */
const cut = copy("cut");
truncateSync(snapshotOf(cut, 4), Math.round(statSync(snapshotOf(cut, 4)).size * 0.75));
const alone = join(scratch, "alone.heap");
cpSync(snapshotOf(cut, 4), alone);

for (const [place, open] of [
  ["offline", async (shown) => ({ url: offline([shown], [], "cut"), stop: async () => {} })],
  ["served", (shown) => serve([shown])],
]) {
  testIn(place, "figures of a snapshot that is cut off are marked as partial, in every view", async () => {
    for (const shown of [cut, alone]) {
      const { url, stop } = await open(shown);
      await visit(`${url}#view=roots&snap=4`, async (page) => {
        await facts(page).getByText("damaged").waitFor();
        await facts(page)
          .getByText(/alive, partial/)
          .waitFor();
        await page.locator(".evolution-legend").getByText("partial").waitFor();
        assert.match(await curve(page).getAttribute("aria-valuetext"), /partial/);
        const mark = strip(page).getByText(/^snapshot 4 is damaged \(.*all figures of it are partial/);
        const views = (await page.getByRole("tab").allInnerTexts()).filter((name) => name !== "Block");
        assert.ok(views.length >= 5, views.join());
        for (const name of views) {
          await page.getByRole("tab", { name, exact: true }).click();
          await settled(page);
          assert.ok(await mark.isVisible(), name);
          assert.equal(await page.locator(".view").getByRole("alert").count(), 0, `${name} shows what is there`);
        }
        await page.getByRole("tab", { name: "Kinds", exact: true }).click();
        await page.getByText("unknown how much is dead").waitFor();
      });
      await stop();
    }
  });
}

test("a snapshot that is cut off is selected like the others, and left again", async () => {
  const server = await serve([cut]);
  await visit(`${server.url}#view=roots&snap=3`, async (page) => {
    await settled(page);
    assert.equal(
      await strip(page)
        .getByText(/is damaged/)
        .count(),
      0,
    );
    const choice = page.getByRole("combobox", { name: "snapshot that is looked at" });
    await isQuiet(page);
    assert.equal(await choice.locator("option").count(), 4);
    await page.keyboard.press(".");
    await settled(page);
    assert.equal(await curve(page).getAttribute("aria-valuenow"), "4");
    await strip(page)
      .getByText(/is damaged/)
      .waitFor();
    await page.keyboard.press(",");
    await settled(page);
    assert.equal(await curve(page).getAttribute("aria-valuenow"), "3");
  });
  await server.stop();
});

/** It stood last among the facts, which are cut off where the window is narrow. */
test("the mark of a damaged snapshot is in sight at every width", async () => {
  const server = await serve([cut]);
  try {
    for (const width of [1400, 1024, 700]) {
      await visit(
        `${server.url}#view=roots&snap=4`,
        async (page) => {
          const mark = facts(page).getByText("damaged");
          await mark.waitFor();
          await settled(page);
          // What is in sight of it, clipped by all that it is in.
          const seen = await mark.evaluate((element) => {
            const box = element.getBoundingClientRect();
            let [left, top, right, bottom] = [box.left, box.top, box.right, box.bottom];
            for (let at = element.parentElement; at; at = at.parentElement) {
              if (getComputedStyle(at).overflow === "visible") continue;
              const clip = at.getBoundingClientRect();
              [left, top] = [Math.max(left, clip.left), Math.max(top, clip.top)];
              [right, bottom] = [Math.min(right, clip.right), Math.min(bottom, clip.bottom)];
            }
            right = Math.min(right, innerWidth);
            return { width: right - left, height: bottom - top, of: [box.width, box.height] };
          });
          assert.deepEqual([seen.width, seen.height].map(Math.round), seen.of.map(Math.round), `${width} pixels`);
        },
        { width },
      );
    }
  } finally {
    await server.stop();
  }
});
