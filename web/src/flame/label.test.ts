import assert from "node:assert/strict";
import { test } from "node:test";
import { boxLabelOfKey, focusForUrl, focusOrToplevel, labelOfKey } from "./keys.ts";
import { Labels, shortenings, siteLabel } from "./label.ts";

const labels = new Labels((text) => Array.from(text).length * 7);

test("modules go first, the function last", () => {
  assert.deepEqual(shortenings("Stdlib.Map.Make.add"), ["Stdlib.Map.Make.add", "…Map.Make.add", "…Make.add", "…add"]);
  assert.equal(labels.fit("Stdlib.Map.Make.add", 200), "Stdlib.Map.Make.add");
  assert.equal(labels.fit("Stdlib.Map.Make.add", 80), "…Make.add");
  assert.equal(labels.fit("Stdlib.Map.Make.add", 30), "…add");
  assert.equal(labels.fit("Stdlib.Map.Make.bindings", 50), "bind…");
  assert.equal(labels.fit("Stdlib.Map.Make.bindings", 12), "");
});

test("operators and lines of files are not taken for modules", () => {
  assert.deepEqual(shortenings("Lwt.(>>=)"), ["Lwt.(>>=)", "…(>>=)"]);
  assert.deepEqual(shortenings("a.+."), ["a.+."]);
  assert.deepEqual(shortenings("map.ml:120"), ["map.ml:120", "…:120"]);
  assert.deepEqual(shortenings("Übersicht.zeige"), ["Übersicht.zeige", "…zeige"]);
});

test("a nameless function keeps the name of the one it is in", () => {
  assert.deepEqual(shortenings("Typecore.type_let.(fun)"), ["Typecore.type_let.(fun)", "…type_let.(fun)"]);
});

test("a call site reads as its file and line", () => {
  assert.equal(siteLabel("src/lib/map.ml", 12), "map.ml:12");
  assert.equal(siteLabel("map.ml", 1), "map.ml:1");
});

test("a function without debug information was shown with line 0", () => {
  assert.equal(siteLabel("libpython3.11.so.1.0", 0), "libpython3.11.so.1.0");
  assert.equal(labelOfKey("_PyObject_GC_New@:0:0-0"), "_PyObject_GC_New");
  assert.equal(boxLabelOfKey("_PyObject_GC_New@:0:0-0"), "_PyObject_GC_New");
  assert.equal(labelOfKey("add@src/map.ml:12:3-9"), "add map.ml:12");
});

test("what is written never is wider than its room", () => {
  for (const name of ["Stdlib.Map.Make.add", "x", "A.B.C.d_e_f_g", "", "file.ml:3", "日本語.関数"]) {
    for (let room = 0; room < 200; room += 3) {
      assert.ok(Array.from(labels.fit(name, room)).length * 7 <= room, `${name} in ${room}`);
    }
  }
});

test("keys are shown as what they are the keys of", () => {
  assert.equal(labelOfKey("<toplevel>"), "all code");
  assert.equal(labelOfKey("Lwt.(@)"), "Lwt.(@)");
  assert.equal(labelOfKey("Stdlib.(@)@src/stdlib.ml:12:3-17"), "Stdlib.(@) stdlib.ml:12");
  assert.equal(boxLabelOfKey("Map.add@map.ml:12:3-17"), "map.ml:12");
  assert.equal(boxLabelOfKey("Map.add"), "Map.add");
});

test("the toplevel alone is no focus in the URL", () => {
  assert.deepEqual(focusOrToplevel([]), ["<toplevel>"]);
  assert.deepEqual(focusForUrl(["<toplevel>"]), []);
  assert.deepEqual(focusForUrl(["<toplevel>", "a"]), ["<toplevel>", "a"]);
});
