// Memory over time: choosing "allocated in" and "live at" by mouse, by keys and by typing.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { conditions, settled, state, visit } from "./browser.mjs";
import { testIn } from "./places.mjs";
import { offline, recordLeaks, serve } from "./program.mjs";

const leaks = recordLeaks();
const server = await serve([leaks]);
after(() => server.stop());
const places = [
  ["served", server.url],
  ["offline", offline([leaks])],
];

const plot = (page) => page.getByRole("application", { name: "Memory over time" });

/** Drags from one share of an element's width to another. */
async function drag(page, box, from, to, height = 0.5) {
  const y = box.y + height * box.height;
  await page.mouse.move(box.x + from * box.width, y);
  await page.mouse.down();
  await page.mouse.move(box.x + ((from + to) / 2) * box.width, y, { steps: 4 });
  await page.mouse.move(box.x + to * box.width, y, { steps: 4 });
  await page.mouse.up();
  await settled(page);
}

for (const [place, url] of places) {
  testIn(place, "dragging over the plot chooses when blocks were allocated", () =>
    visit(url, async (page) => {
      const before = await conditions(page);
      assert.deepEqual(before, []);
      await drag(page, await plot(page).boundingBox(), 0.4, 0.7);
      const [condition, ...more] = await conditions(page);
      assert.match(condition, /allocated/);
      assert.deepEqual(more, []);
      const [, from, to] = /^allocated:([\d.]+)s\.\.([\d.]+)s$/.exec(state(page).get("f"));
      assert.ok(Number(from) < Number(to));

      await page.goBack();
      await settled(page);
      assert.deepEqual(await conditions(page), [], "one step back undoes the gesture");
      await page.goForward();
      await settled(page);
      assert.equal((await conditions(page)).length, 1);
      await page.reload();
      await settled(page);
      assert.equal((await conditions(page)).length, 1, "a reload keeps it");
    }),
  );

  testIn(place, "the second lane chooses when blocks were live", () =>
    visit(url, async (page) => {
      const lane = page.getByRole("group", { name: /live|collected/i }).first();
      await drag(page, await lane.boundingBox(), 0.3, 0.5);
      assert.match((await conditions(page)).join(), /live/);
    }),
  );
}

test("a brush moves and grows by arrow keys, and takes typed times", () =>
  visit(`${server.url}#f=allocated:1s..2s`, async (page) => {
    const handles = page.getByRole("slider", { name: /allocated/i });
    assert.ok((await handles.count()) >= 2, "two ends that keys move");
    await handles.first().focus();
    await page.keyboard.press("ArrowRight");
    await settled(page);
    const moved = state(page).get("f");
    assert.notEqual(moved, "allocated:1s..2s");
    assert.match(moved, /\.\.2s$/);
  }));
