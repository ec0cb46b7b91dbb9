/** A column of what the baseline has: the last snapshot of another recording, or a snapshot of the same one. */
import { selectedBaseline } from "../../compare/sides.ts";
import { useQuery } from "../../engine/useQuery.ts";
import { rec } from "../../state/page.ts";
import type { Column } from "../../tables/columns.ts";
import { useBefore } from "../changes/before.ts";
import { baseIsSelected } from "../state.ts";
import { sizes } from "./columns.ts";

/** So many differences are asked for; what is not among them is the same in both, if it is among what is compared. */
const MAX_ROWS = 2000;

/** What a row is called in a comparison of snapshots, and its size now. */
interface Compared {
  readonly by: "kinds" | "owners" | "roots" | "joint";
  readonly kind: string | null;
  readonly name: string;
  readonly bytes: number | null;
}

/** The columns with that of the baseline behind the first. Rows that have no counterpart there are not `compared`. */
export function useColumnsWithBefore<R>(
  columns: readonly Column<R>[],
  compared: (row: R) => Compared | null,
): readonly Column<R>[] {
  const before = useBefore();
  const isOther = before !== null && before.rec !== rec.value;
  const isSelected = isOther ? selectedBaseline() !== null : baseIsSelected.value;
  const { response } = useQuery(
    before && isSelected
      ? {
          query: "heapdiff",
          rec: before.rec,
          a: before.snapshot.number,
          rec_b: rec.value,
          b: before.after.number,
          limit: MAX_ROWS,
        }
      : null,
    "h",
  );
  const [first, ...others] = columns;
  if (!isSelected || !response || !before || !first) return columns;
  const sizesOf = (by: Compared["by"]) =>
    new Map(response[by].map(({ kind, name, bytes }) => [`${kind ?? ""} ${name}`, bytes[0]]));
  const changes = {
    kinds: sizesOf("kinds"),
    owners: sizesOf("owners"),
    roots: sizesOf("roots"),
    joint: sizesOf("joint"),
  };
  const sizeBefore = (row: R): number | null => {
    const found = compared(row);
    if (!found) return null;
    const { by, kind, name, bytes } = found;
    const all = response[by].length < MAX_ROWS;
    return known(changes[by].get(`${kind ?? ""} ${name}`), bytes, all, response.unknown[by === "joint" ? "roots" : by]);
  };
  const what = `in snapshot ${before.snapshot.number}${isOther ? " of the baseline" : ", the baseline"}`;
  return [first, sizes<R>("baseline", "Before", what, 0, sizeBefore, false), ...others];
}

/**
 * A size before, of what is `changed` there or else the same as `now`; null where that is not known. Of very many roots the
 * largest are compared: those that are not larger than `unknown`, before and after, are not.
 */
export function known(
  changed: number | undefined,
  now: number | null,
  all: boolean,
  unknown: readonly [number, number],
): number | null {
  if (changed !== undefined) return changed === 0 && unknown[0] > 0 ? null : changed;
  return all && now !== null && (now > unknown[1] || unknown[1] === 0) ? now : null;
}
