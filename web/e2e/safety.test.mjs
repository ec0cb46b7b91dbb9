// The server answers its own page, and nobody else.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { visit } from "./browser.mjs";
import { fixture, serve } from "./program.mjs";

const server = await serve([fixture("cache-v2.ctf")]);
after(() => server.stop());

test("without the token there is nothing", async () => {
  const { origin, pathname } = new URL(server.url);
  for (const path of ["/", "/index.html", `/${"0".repeat(32)}/`, `${pathname.slice(0, -2)}x/`]) {
    assert.equal((await fetch(origin + path)).status, 404, path);
  }
  assert.equal((await fetch(server.url)).status, 200);
});

test("another origin's page cannot query", async () => {
  const query = (headers) => fetch(`${server.url}api/query`, { method: "POST", body: '{"query":"about"}', headers });
  assert.equal((await query({ origin: new URL(server.url).origin })).status, 200);
  assert.equal((await query({ origin: "http://evil.example" })).status, 403);
});

test("the policy forbids what the page does not need, and the browser agrees", () =>
  visit(server.url, async (page, wrong) => {
    const refused = await page.evaluate(async () => {
      const script = document.createElement("script");
      script.textContent = "window.injected = 1";
      document.head.append(script);
      const outside = await fetch("http://127.0.0.1:9/").then(
        () => "sent",
        () => "refused",
      );
      return { injected: window.injected, outside };
    });
    assert.deepEqual(refused, { injected: undefined, outside: "refused" });
    // The browser's complaints about these two are what this test wants.
    assert.ok(wrong.length >= 2);
    wrong.length = 0;
  }));
