/** A column of what the baseline's last snapshot has, where the baseline is another recording. */
import { selectedBaseline } from "../../compare/sides.ts";
import { useQuery } from "../../engine/useQuery.ts";
import { rec } from "../../state/page.ts";
import type { Column } from "../../tables/columns.ts";
import { useBefore } from "../changes/before.ts";
import { sizes } from "./columns.ts";

/** So many differences are asked for; what is not among them is the same in both. */
const MAX_ROWS = 2000;

/** The columns with that of the baseline behind the first; `keyOf` gives kind and name of a row, and its size now. */
export function useColumnsWithBefore<R>(
  columns: readonly Column<R>[],
  by: "kinds" | "owners" | "roots",
  keyOf: (row: R) => readonly [kind: string | null, name: string, bytes: number],
): readonly Column<R>[] {
  const before = useBefore();
  const side = selectedBaseline();
  const { response } = useQuery(
    side && before && before.rec !== rec.value
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
  if (!side || !response || !before || before.rec === rec.value || !first) return columns;
  const changes = new Map(response[by].map(({ kind, name, bytes }) => [`${kind ?? ""} ${name}`, bytes[0]]));
  const sizeBefore = (row: R): number | null => {
    const [kind, name, bytes] = keyOf(row);
    return changes.get(`${kind ?? ""} ${name}`) ?? (response[by].length < MAX_ROWS ? bytes : null);
  };
  const what = `in snapshot ${before.snapshot.number} of the baseline`;
  return [first, sizes<R>("baseline", "Before", what, 0, sizeBefore, false), ...others];
}
