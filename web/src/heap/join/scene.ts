/** Sampled blocks as a scene of the flame graph: widths are estimates of all blocks. */
import { FOCUS, moduleColour } from "../../flame/colour.ts";
import type { Scene } from "../../flame/scene.ts";
import { layOut } from "../../flame/tree.ts";
import type { SampledBox } from "../../generated/responses.ts";
import { estimatedBytes } from "../../state/estimates.ts";

const NO_COLOURS = new Uint8Array(0);

/** The whole at the top; what each box is made of below. */
export function sceneOf(boxes: readonly SampledBox[], colour: (box: SampledBox) => number): Scene {
  const entities = new Map<string, number>();
  const entity = Uint32Array.from(boxes, ({ name, key }) => {
    const known = entities.get(key ?? name) ?? entities.size;
    entities.set(key ?? name, known);
    return known;
  });
  const tree = layOut({
    parent: Uint32Array.from(boxes, ({ parent }) => parent),
    entity,
    bytes: Float64Array.from(boxes, ({ bytes }) => bytes),
    blocks: Float32Array.from(boxes, ({ sampled }) => sampled),
    lifetime: new Float32Array(boxes.length),
    more: new Uint8Array(boxes.length),
  });
  const boxOf = (at: number): SampledBox => boxes[tree.origin[at]!]!;
  const whole = boxes[0]?.bytes ?? 0;
  return {
    rows: { orientation: "icicle", callers: 0, focus: 1, callees: Math.max(0, tree.rows - 1) },
    callers: null,
    callees: tree,
    focus: [{ label: boxes[0]?.name ?? "", colour: FOCUS }],
    sum: estimatedBytes(whole),
    width: whole,
    callerColours: NO_COLOURS,
    calleeColours: Uint8Array.from({ length: tree.size }, (_, at) => colour(boxOf(at))),
    label: (_, at) => labelOf(boxOf(at)),
  };
}

/** What is written in a box: of a call site, where it is. */
export function labelOf({ name, key, place }: SampledBox): string {
  return place !== null && key !== null && key !== name ? place : name;
}

/** The colour of a function's module. */
export const callColour = ({ name, key }: SampledBox): number => moduleColour(key === null ? "" : name);
