/** What the engine answers to `flame` and `search`. */
import type { Columns } from "../engine/slab.ts";
import type { TreeColumns } from "./tree.ts";

/** Columns: `down_…` of the callees, `up_…` of the callers. */
export interface FlameAnswer {
  /** Bytes of the whole filtered selection. */
  total: number;
  focus_bytes: number;
}

/** Columns: `entities`. */
export interface SearchAnswer {
  bytes: number;
  /** Of the filtered selection, 0 to 1. */
  share: number;
}

/** One side of an answer, or null where it was not asked for. */
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
