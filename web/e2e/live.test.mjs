// A recording that still grows: graphs advance, filters stay, and a server that goes is told.
import assert from "node:assert/strict";
import { test } from "node:test";
import { conditions, settled, visit } from "./browser.mjs";
import { serve, startGrowing } from "./program.mjs";

test("what is shown grows with the recording, under the same filter", async () => {
  const { folder, end } = await startGrowing();
  const server = await serve([folder]);
  await visit(`${server.url}#f=in:~serve`, async (page, wrong) => {
    const shown = (wanted) =>
      page.waitForFunction((wanted) => {
        const text = document.querySelector("[aria-label='totals of the recording']")?.textContent ?? "";
        const seconds = /([\d.]+) s/.exec(text);
        return seconds && Number(seconds[1]) > wanted ? Number(seconds[1]) : 0;
      }, wanted);
    const before = await (await shown(0)).jsonValue();
    await shown(before + 2);
    assert.match((await conditions(page)).join(), /serve/);
    // The notice goes away by itself, on a busy machine before the launcher is done.
    const ended = page.getByText("the recording has ended").first().waitFor({ state: "attached" });
    const [code] = await Promise.all([end(), ended]);
    assert.equal(code, 0);
    await settled(page);
    await server.stop();
    await page
      .getByText(/does not answer|lost|gone|stopped/i)
      .first()
      .waitFor();
    // The browser's own complaints about the server that was stopped.
    for (let at = wrong.length - 1; at >= 0; at--) if (/ERR_|Failed to load/.test(wrong[at])) wrong.splice(at, 1);
  });
});
