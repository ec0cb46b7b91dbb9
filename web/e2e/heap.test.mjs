// The heap half: every view of a recording with snapshots, served and as one file.
import assert from "node:assert/strict";
import { cpSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { settled, state, visit } from "./browser.mjs";
import { testIn } from "./places.mjs";
import { fixture, offline, recordKept, scratch, serve } from "./program.mjs";

const kept = await recordKept();
const server = await serve([kept]);
after(() => server.stop());
const places = [
  ["served", server.url],
  ["offline", offline([kept], ["--contents"], "snapshots")],
];

const VIEWS = [
  "Leaks",
  "Roots",
  "Dominators",
  "Kinds",
  "Containers",
  "Blocks",
  "Paths",
  "Stack",
  "Changes",
  "Sites",
  "Strings",
];

const tab = async (page, name) => {
  await page.getByRole("tab", { name, exact: true }).click();
  await settled(page);
};
const toHeap = async (page) => {
  await page.getByRole("radio", { name: "Heap" }).click();
  await settled(page);
};
const rows = (page) => page.getByRole("treegrid").getByRole("row");
const curve = (page) => page.getByRole("slider", { name: "Snapshot" });
/** `12.3 MiB` as bytes. */
const size = (text) => {
  const [, number, unit] = /([\d.]+) (B|KiB|MiB|GiB)/.exec(text);
  return Number(number) * 1024 ** ["B", "KiB", "MiB", "GiB"].indexOf(unit);
};

for (const [place, url] of places) {
  testIn(place, "a recording with snapshots opens with the suspects, and back leads to them", () =>
    visit(url, async (page) => {
      assert.equal(state(page).get("view"), "leaks");
      await page.getByRole("region", { name: "Leak suspects" }).waitFor();
      await page.keyboard.press("g");
      await settled(page);
      assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Flame graph");
      assert.equal(state(page).get("view"), "flame", "a link to the flame graph leads there");
      await page.reload();
      await settled(page);
      assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Flame graph");
      await page.goBack();
      await settled(page);
      assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Leaks");
    }),
  );

  testIn(place, "one click leads to the heap, one back, and each half remembers its view", () =>
    visit(`${url}#view=flame`, async (page) => {
      await toHeap(page);
      assert.equal(state(page).get("view"), "leaks");
      assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Leaks");
      await tab(page, "Kinds");
      await page.keyboard.press("g");
      await settled(page);
      assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Flame graph");
      await page.keyboard.press("g");
      await settled(page);
      assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Kinds");
      await page.goBack();
      await page.goBack();
      await settled(page);
      assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Kinds");
    }),
  );

  testIn(place, "the suspects are said in sentences, and lead to their owners", () =>
    visit(`${url}#view=leaks`, async (page) => {
      const section = page.getByRole("region", { name: "Leak suspects" });
      // Suspects are judged anew with each snapshot that is analysed.
      await section
        .getByText(/owned by .*Keeps/)
        .first()
        .waitFor();
      await section.getByText(/checked .* owners/).waitFor();
      const owner = section.getByRole("button", { name: "Among the roots" });
      await owner.first().click();
      await settled(page);
      assert.equal(state(page).get("view"), "roots");
      await rows(page).filter({ hasText: "Keeps" }).first().waitFor();
    }),
  );

  testIn(place, "the owners add up, and the first one is what leaks", () =>
    visit(`${url}#view=roots`, async (page) => {
      const row = rows(page).filter({ hasText: "Keeps" }).first();
      await row.waitFor();
      assert.ok(size(await row.innerText()) > 200_000, "it owns what is kept");
      assert.equal(await page.getByRole("radio", { name: "Owners" }).first().isChecked(), true);
      const legend = page.getByLabel("what the areas are");
      await legend.getByText("Keeps").first().waitFor();
      await row.click();
      await page.getByRole("button", { name: "What it retains" }).click();
      await settled(page);
      assert.equal(state(page).get("view"), "dominators");
      assert.match(state(page).get("node"), /^block:\d+$/);
      await page.goBack();
      await settled(page);
      const shown = async () => (await rows(page).allInnerTexts()).join("\n");
      assert.doesNotMatch(await shown(), /jointly retained/);
      await page.getByRole("radio", { name: "Retained" }).click();
      await settled(page);
      assert.equal(state(page).get("roots-by"), "root");
    }),
  );

  testIn(place, "the roots name the module that leaks, and open into its fields", () =>
    visit(`${url}#view=roots&roots-by=root`, async (page) => {
      const row = rows(page).filter({ hasText: "Keeps" }).first();
      await row.waitFor();
      assert.ok(size(await row.innerText()) > 200_000, "it retains what is kept");
      await row.click();
      await page.keyboard.press("ArrowRight");
      await settled(page);
      await rows(page).filter({ hasText: "field" }).first().waitFor();
      await page.getByRole("searchbox", { name: /Find rows/ }).fill("Keeps");
      await settled(page);
      await page.waitForFunction(() => location.hash.includes("roots-find=Keeps"));
      await page.getByRole("button", { name: "What it retains" }).click();
      await settled(page);
      assert.equal(state(page).get("view"), "dominators");
      assert.match(state(page).get("node"), /^(label|kind):/);
      await page.reload();
      await settled(page);
      await page
        .getByRole("navigation", { name: /dominator tree/ })
        .filter({ hasText: "Keeps" })
        .waitFor();
    }),
  );

  testIn(place, "the map of dominators zooms by keys and by clicks, and back undoes it", () =>
    visit(`${url}#view=dominators`, async (page) => {
      const map = page.getByRole("application", { name: /^Retained by all roots, / });
      await map.focus();
      for (const key of ["ArrowDown", "Enter"]) await page.keyboard.press(key);
      await settled(page);
      const first = state(page).get("node");
      assert.ok(first, "zoomed in");
      await page.getByRole("application", { name: /^Retained by global, / }).waitFor();
      const { x, y, width, height } = await page.locator(".treemap").boundingBox();
      await page.mouse.click(x + width / 4, y + height / 2);
      await settled(page);
      await page.waitForFunction((first) => new URLSearchParams(location.hash.slice(1)).get("node") !== first, first);
      await page.goBack();
      await settled(page);
      assert.equal(state(page).get("node"), first);
      await page.goBack();
      await settled(page);
      assert.equal(state(page).get("node"), null);
      await page.getByRole("radio", { name: "Tree" }).click();
      await settled(page);
      await rows(page).nth(1).click();
      await page.keyboard.press("ArrowRight");
      await settled(page);
      assert.ok((await rows(page).count()) > 3, "a row opened");
    }),
  );

  testIn(place, "what several roots retain jointly opens down to what has to be cut", () =>
    visit(`${url}#view=roots&roots-by=joint`, async (page) => {
      const share = rows(page).filter({ hasText: "jointly retained" }).first();
      await share.waitFor();
      const block = rows(page).filter({ hasText: "reached by" }).first();
      await block.waitFor();
      await block.click();
      await page.keyboard.press("ArrowRight");
      await settled(page);
      await rows(page).filter({ hasText: "cut " }).first().waitFor();
      await page.getByRole("button", { name: "The block" }).click();
      await settled(page);
      assert.match(state(page).get("block"), /^\d+$/);
    }),
  );

  testIn(place, "an owner leads to the kinds of its blocks, and back to all", () =>
    visit(`${url}#view=roots`, async (page) => {
      const row = rows(page).filter({ hasText: "Keeps" }).first();
      await row.waitFor();
      const owned = size(await row.innerText());
      await row.click();
      await page.getByRole("button", { name: "Kinds of it" }).click();
      await settled(page);
      assert.equal(state(page).get("view"), "kinds");
      const condition = page.getByRole("button", { name: /^owned by .*Keeps/ });
      await condition.waitFor();
      const first = rows(page).nth(1);
      await first.waitFor();
      assert.ok(size(await first.innerText()) <= owned);
      await condition.click();
      await settled(page);
      assert.equal(state(page).get("owner"), null);
    }),
  );

  testIn(place, "containers lead to their blocks and owners", () =>
    visit(`${url}#view=containers`, async (page) => {
      const row = rows(page).filter({ hasText: "Keeps" }).first();
      await row.waitFor();
      await row.click();
      await page.getByRole("button", { name: "Its owner" }).click();
      await settled(page);
      assert.equal(state(page).get("view"), "dominators");
      assert.match(state(page).get("node"), /^label:\d+$/);
    }),
  );

  testIn(place, "from a kind to its paths, to a block, and from block to block", () =>
    visit(`${url}#view=kinds`, async (page) => {
      await rows(page).filter({ hasText: "string" }).first().click();
      await page.getByRole("button", { name: "Paths to them" }).click();
      await settled(page);
      assert.equal(state(page).get("to"), "string");
      const graph = page.getByRole("application", { name: /Paths from the roots to string/ });
      await graph.focus();
      for (let press = 0; press < 12; press++) await page.keyboard.press("ArrowDown");
      await settled(page);
      await page.getByRole("button", { name: "The largest block" }).click();
      await settled(page);
      assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Block");
      const first = state(page).get("block");
      assert.match(first, /^\d+$/);
      const text = await page.locator(".view").innerText();
      assert.match(text, /What retains it/);
      assert.match(text, /Keeps/, "the path begins at the module");
      const above = page.getByRole("region", { name: "refers to it", exact: true }).getByRole("link").first();
      await above.click();
      await settled(page);
      assert.notEqual(state(page).get("block") ?? state(page).get("node"), first);
      await page.goBack();
      await settled(page);
      assert.equal(state(page).get("block"), first);
    }),
  );

  testIn(place, "the sites lead to a block that says where it was allocated", () =>
    visit(`${url}#view=sites`, async (page) => {
      const row = rows(page)
        .filter({ hasText: /keeps\.ml/ })
        .first();
      await row.waitFor();
      await row.click();
      await page.getByRole("button", { name: "The one that retains most" }).click();
      await settled(page);
      const allocated = page.getByRole("region", { name: "where it was allocated" });
      assert.match(await allocated.innerText(), /Keeps\./);
      await allocated
        .getByRole("link", { name: /Keeps\./ })
        .first()
        .click();
      await settled(page);
      assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Flame graph");
      assert.match(decodeURIComponent(page.url()), /focus=Keeps\./);
    }),
  );

  testIn(place, "keys choose snapshots on the curve, a drag compares two, growth names the leaks", () =>
    visit(`${url}#view=roots`, async (page) => {
      const now = async () => Number(await curve(page).getAttribute("aria-valuenow"));
      await curve(page).focus();
      const last = await now();
      assert.ok(last >= 3, `${last} snapshots`);
      await page.keyboard.press("ArrowLeft");
      await settled(page);
      assert.equal(await now(), last - 1);
      assert.ok(state(page).get("snap"));
      await page.keyboard.press("Home");
      await settled(page);
      assert.equal(await now(), 1);
      const { x, y, width, height } = await curve(page).boundingBox();
      await page.mouse.move(x + 70, y + height / 2);
      await page.mouse.down();
      await page.mouse.move(x + width / 2, y + height / 2, { steps: 3 });
      await page.mouse.move(x + width - 30, y + height / 2, { steps: 3 });
      await page.mouse.up();
      await settled(page);
      assert.equal(state(page).get("view"), "changes");
      assert.ok(state(page).get("base"));
      const grown = rows(page).filter({ hasText: "+" }).first();
      await grown.waitFor();
      assert.ok(size(await grown.innerText()) > 10_000);
      await page.getByRole("radio", { name: "Growth" }).click();
      await settled(page);
      await rows(page).filter({ hasText: "string" }).first().waitFor();
    }),
  );

  testIn(place, "the first snapshot is compared as what was before", () =>
    visit(`${url}#view=changes&snap=1`, async (page) => {
      const [before, after] = [page.getByLabel("snapshot before"), page.getByLabel("snapshot after")];
      assert.equal(await before.inputValue(), "1");
      assert.ok(Number(await after.inputValue()) > 1);
    }),
  );

  testIn(place, "every view in both themes at any width", () =>
    visit(`${url}#view=roots&block=1`, async (page) => {
      for (const theme of ["first", "other"]) {
        if (theme === "other") await page.keyboard.press("t");
        for (const width of [900, 2560, 1280]) {
          await page.setViewportSize({ width, height: 800 });
          for (const name of [...VIEWS, "Block"]) {
            await tab(page, name);
            const text = await page.locator(".view").innerText();
            assert.doesNotMatch(text, /NaN|Infinity|undefined|\bnull\b|failed/, name);
            const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
            assert.ok(beyond <= 0, `${name} at ${width} is ${beyond} px too wide`);
          }
        }
      }
      await page.keyboard.press("?");
      const help = page.getByRole("dialog", { name: "keys" });
      await help.waitFor();
      assert.match(await help.innerText(), /the next snapshot/);
      await page.keyboard.press("Escape");
    }),
  );
}

test("a snapshot that cannot be read says so, and shows nothing of another one", async () => {
  const cut = join(scratch, "cut-short.memtrail");
  cpSync(kept, cut, { recursive: true });
  const file = join(cut, "0002.heap");
  truncateSync(file, 300);
  const damaged = await serve([cut]);
  try {
    await visit(`${damaged.url}#view=dominators`, async (page, wrong) => {
      await page.getByRole("application", { name: /^Retained by all roots, / }).waitFor();
      await page.evaluate(() => (location.hash = "view=dominators&snap=2"));
      await page.locator(".view").getByRole("alert").waitFor();
      assert.equal(await page.locator(".treemap").count(), 0);
      // The browser's own complaints about the refusal.
      for (let at = wrong.length - 1; at >= 0; at--) if (/Failed to load/.test(wrong[at])) wrong.splice(at, 1);
    });
  } finally {
    await damaged.stop();
  }
});

test("a recording without snapshots has no heap half", async () => {
  const plain = await serve([fixture("cache-v2.ctf")]);
  try {
    await visit(`${plain.url}#view=roots`, async (page) => {
      assert.equal(await page.getByRole("radio", { name: "Heap" }).count(), 0);
      assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Flame graph");
    });
  } finally {
    await plain.stop();
  }
});
