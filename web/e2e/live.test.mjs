// A recording that still grows: graphs advance, filters stay, and a server that goes is told.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { chips, settled, visit } from "./browser.mjs";
import { compile, memtrail, scratch, serve } from "./program.mjs";

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Leaks a little twenty times a second, until it is told to end. */
const SERVER = `
let kept = ref []
let[@inline never] serve n = kept := List.init 20_000 (fun i -> string_of_int (n + i)) :: !kept
let () =
  let go = ref true in
  Sys.set_signal Sys.sigterm (Sys.Signal_handle (fun _ -> go := false));
  let n = ref 0 in
  while !go do
    incr n;
    serve !n;
    try Unix.sleepf 0.05 with Unix.Unix_error (Unix.EINTR, _, _) -> ()
  done
`;

test("what is shown grows with the recording, under the same filter", async () => {
  const source = join(scratch, "grows.ml");
  writeFileSync(source, SERVER);
  const folder = join(scratch, "growing.memtrail");
  const run = spawn(memtrail, ["run", "-q", "-o", folder, "--", compile(source, "grows")], { stdio: "ignore" });
  const ended = new Promise((done) => run.on("exit", done));
  while (!existsSync(join(folder, "trace.ctf"))) await pause(100);
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
    assert.match((await chips(page)).join(), /serve/);
    run.kill("SIGTERM");
    assert.equal(await ended, 0);
    await page.getByText("the recording has ended").first().waitFor({ state: "attached" });
    await settled(page);
    await server.stop();
    await page.getByText(/does not answer|lost|gone|stopped/i).first().waitFor();
    // The browser's own complaints about the server that was stopped.
    for (let at = wrong.length - 1; at >= 0; at--) if (/ERR_|Failed to load/.test(wrong[at])) wrong.splice(at, 1);
  });
});
