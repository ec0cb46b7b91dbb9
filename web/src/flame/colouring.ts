/** From trees, names and matches to a scene: every box gets its colour and its label. */
import { FADED, FOCUS, MATCH, RUNTIME, SITE, UNKNOWN, moduleColour } from "./colour.ts";
import { labelOfKey, moduleLabel } from "./keys.ts";
import { siteLabel } from "./label.ts";
import type { NameBook } from "./names.ts";
import type { Orientation } from "./rows.ts";
import type { Scene } from "./scene.ts";
import type { Trees } from "./trees.ts";
import type { Tree } from "./tree.ts";
import type { Viewport } from "./viewport.ts";

const NO_COLOURS = new Uint8Array(0);

/** Where in a flame graph things stand: all but names and colours. */
export function sceneOf(
  trees: Trees,
  focus: readonly string[],
  orientation: Orientation,
  sum: string,
  names: NameBook,
  timed?: Scene["timed"],
): Scene {
  const { callees, callers } = trees;
  return {
    rows: {
      orientation,
      callers: callers ? Math.max(0, callers.rows - 1) : 0,
      focus: focus.length,
      callees: callees ? Math.max(0, callees.rows - 1) : 0,
    },
    callees,
    callers,
    focus: focus.map((key) => ({ label: labelOfKey(key), colour: FOCUS })),
    sum,
    width: trees.extent ?? trees.response.focus_bytes,
    timed,
    calleeColours: NO_COLOURS,
    callerColours: NO_COLOURS,
    label: (part, at) => labelOf(part === "callers" ? callers : callees, at, names),
  };
}

/** The scene with colours as far as names are known. */
export function coloured(scene: Scene, names: NameBook, matching: ReadonlySet<number> | null): Scene {
  const colours = (tree: Tree | null): Uint8Array => {
    if (!tree) return NO_COLOURS;
    const known = new Map<number, number>();
    const out = new Uint8Array(tree.size);
    for (let box = 0; box < tree.size; box++) {
      const entity = tree.entity[box]!;
      let colour = known.get(entity);
      if (colour === undefined) {
        colour = matching ? (matching.has(entity) ? MATCH : FADED) : colourOf(entity, names);
        known.set(entity, colour);
      }
      out[box] = colour;
    }
    return out;
  };
  return { ...scene, calleeColours: colours(scene.callees), callerColours: colours(scene.callers) };
}

/** What tells the program's own functions from those that come with OCaml. */
export function isRuntimeModule(module: string): boolean {
  return /^(Stdlib|Camlinternal|Std_exit)/.test(module);
}

function colourOf(entity: number, names: NameBook): number {
  const name = names.get(entity);
  if (!name) return UNKNOWN;
  if (name.kind === "site") return SITE;
  if (name.kind === "root" || !name.module) return RUNTIME;
  return isRuntimeModule(name.module) ? RUNTIME : moduleColour(name.module);
}

function labelOf(tree: Tree | null, at: number, names: NameBook): string {
  const name = tree ? names.get(tree.entity[at]!) : undefined;
  if (!name) return "";
  if (name.kind === "site" && name.file && name.line !== null) return siteLabel(name.file, name.line);
  return name.kind === "module" ? moduleLabel(name.name) : name.name;
}

/** Asks for the names of what is at least `least` of the view wide. */
export function wantNames(scene: Scene, view: Viewport, least: number, names: NameBook): void {
  const [from, to] = [view.from * scene.width, view.to * scene.width];
  const bytes = (to - from) * least;
  for (const tree of [scene.callees, scene.callers] as (Tree | null)[]) {
    if (!tree) continue;
    for (let box = 0; box < tree.size; box++) {
      if (tree.right[box]! - tree.left[box]! >= bytes && tree.left[box]! < to && tree.right[box]! > from) {
        names.want(tree.entity[box]!);
      }
    }
  }
}
