/** The trees in the response to `flame`. */
import type { Columns } from "../engine/slab.ts";
import type { TreeColumns } from "./tree.ts";

/** One side of a response, or null where it was not asked for. */
export function side(columns: Columns, which: "down" | "up"): TreeColumns | null {
  if (!columns.has(`${which}_parent`)) return null;
  return {
    parent: columns.u32(`${which}_parent`),
    entity: columns.u32(`${which}_entity`),
    bytes: columns.f64(`${which}_bytes`),
    blocks: columns.f32(`${which}_blocks`),
    lifetime: columns.f32(`${which}_lifetime`),
    more: columns.u8(`${which}_more`),
  };
}
