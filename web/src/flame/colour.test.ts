import assert from "node:assert/strict";
import { test } from "node:test";
import { FADED, PAINTS, hex, moduleColour, oklch, palette } from "./colour.ts";
import { contrast } from "./contrast.testing.ts";

test("names can be read on every colour, light and dark", () => {
  for (const theme of ["light", "dark"] as const) {
    const paints = palette(theme);
    assert.equal(paints.length, PAINTS);
    paints.forEach(({ fill, text }, at) => {
      const least = at === FADED ? 3 : 4.5;
      assert.ok(contrast(fill, text) >= least, `${theme} ${at}: ${text} on ${fill} is ${contrast(fill, text)}`);
    });
  }
});

test("a module's colour depends on its name alone, and relatives share a hue", () => {
  assert.equal(moduleColour("Server.Cache"), moduleColour("Server.Cache"));
  const hue = (module: string) => (moduleColour(module) - 6) >> 1;
  assert.equal(hue("Server.Cache"), hue("Server__Pool"));
  const used = new Set(Array.from({ length: 200 }, (_, at) => moduleColour(`Module${at}`)));
  assert.ok(used.size > 20, `${used.size} colours for 200 modules`);
  for (const colour of used) assert.ok(colour >= 6 && colour < PAINTS);
});

test("oklch agrees with known colours", () => {
  assert.equal(hex(oklch(1, 0, 0)), "#ffffff");
  assert.equal(hex(oklch(0, 0, 0)), "#000000");
  assert.equal(hex(oklch(0.62796, 0.25768, 29.234)), "#ff0000");
});
