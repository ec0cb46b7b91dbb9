/** Merged paths from the roots as a scene of the flame graph: widths are what is retained. */
import { FOCUS } from "../../flame/colour.ts";
import type { Scene } from "../../flame/scene.ts";
import { layOut, type Tree } from "../../flame/tree.ts";
import { bytes } from "../../text/units.ts";
import type { BoxRow } from "../../generated/responses.ts";
import { boxColour } from "../kindColour.ts";

const NO_COLOURS = new Uint8Array(0);

/** The boxes as a tree: each is an entity of its own, known by its name. */
export function treeOf(boxes: readonly BoxRow[]): Tree {
  const entities = new Map<string, number>();
  const entity = Uint32Array.from(boxes, ({ name }) => {
    const known = entities.get(name) ?? entities.size;
    entities.set(name, known);
    return known;
  });
  return layOut({
    parent: Uint32Array.from(boxes, ({ parent }) => parent),
    entity,
    bytes: Float64Array.from(boxes, ({ retained }) => retained),
    blocks: Float32Array.from(boxes, ({ blocks }) => blocks),
    lifetime: new Float32Array(boxes.length),
    more: new Uint8Array(boxes.length),
  });
}

/** What is drawn: roots at the top, what they retain below. */
export function sceneOf(boxes: readonly BoxRow[]): Scene {
  const tree = treeOf(boxes);
  const boxOf = (at: number): BoxRow => boxes[tree.origin[at]!]!;
  return {
    rows: { orientation: "icicle", callers: 0, focus: 1, callees: Math.max(0, tree.rows - 1) },
    callers: null,
    callees: tree,
    focus: [{ label: boxes[0]?.name ?? "", colour: FOCUS }],
    sum: bytes(boxes[0]?.retained ?? 0),
    width: boxes[0]?.retained ?? 0,
    callerColours: NO_COLOURS,
    calleeColours: Uint8Array.from({ length: tree.size }, (_, at) => boxColour(boxOf(at).what, boxOf(at).name)),
    label: (_, at) => boxOf(at).name,
  };
}
