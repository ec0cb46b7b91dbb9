/** What the two lanes choose, and how a gesture on them changes the filter. */
import { setConditions } from "../state/filter.ts";
import { param, type How } from "../state/page.ts";
import { typedRange, writeSpan, type LaneKey, type Span, type Typed } from "./ranges.ts";

/** Elapsed or wall time. */
export const axis = param("axis", "elapsed");
/** What the second lane chooses while there is no condition of it. */
export const lane = param("lane", "live");

export const SECOND_LANE: readonly LaneKey[] = ["live", "collected"];

function keysOf(key: LaneKey): readonly LaneKey[] {
  return key === "allocated" ? ["allocated"] : SECOND_LANE;
}

/** Puts the condition of a lane where the lane's old one was, or at the end. */
export function choose(key: LaneKey, span: Span, how: How = "push"): void {
  const condition = writeSpan(key, span);
  setConditions(keysOf(key), condition ? [condition] : [], how);
}

export function chooseTyped(key: LaneKey, range: Typed): void {
  const condition = typedRange(key, range);
  setConditions(keysOf(key), condition ? [condition] : []);
}

export function clear(keys: readonly LaneKey[]): void {
  setConditions(keys, []);
}
