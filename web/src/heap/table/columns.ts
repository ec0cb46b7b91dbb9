/** Columns that several tables about snapshots have. */
import type { Column, Spare } from "../../tables/columns.ts";
import { bytes, count } from "../../text/units.ts";

/** A column of sizes; nothing is a dash. */
export function sizes<R>(
  sort: string,
  title: string,
  what: string,
  spare: Spare,
  of: (row: R) => number | null,
  sorts = true,
): Column<R> {
  return {
    sort,
    title,
    what,
    spare,
    sorts,
    text: (row) => {
      const size = of(row);
      return size === null ? "" : size === 0 ? "–" : bytes(size);
    },
    plain: (row) => String(of(row) ?? ""),
  };
}

export function counts<R>(
  sort: string,
  title: string,
  what: string,
  spare: Spare,
  of: (row: R) => number | null,
  sorts = true,
): Column<R> {
  return {
    sort,
    title,
    what,
    spare,
    sorts,
    text: (row) => {
      const number = of(row);
      return number === null ? "" : count(number);
    },
    plain: (row) => String(of(row) ?? ""),
  };
}

/** A difference, with its sign. */
export function signed(size: number): string {
  return size > 0 ? `+${bytes(size)}` : bytes(size);
}

/** The columns without that of memory outside the heap, where there is none. */
export function withOutside<R>(columns: readonly Column<R>[], there: boolean): readonly Column<R>[] {
  return there ? columns : columns.filter(({ sort }) => sort !== OUTSIDE);
}

export const OUTSIDE = "external";
