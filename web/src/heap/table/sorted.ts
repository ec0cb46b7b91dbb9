/** Rows that are all here, in the order of a table. */
import type { Order } from "./HeapTable.tsx";

interface Accessors<R> {
  /** What to sort by, by column. */
  readonly keys: Readonly<Record<string, (row: R) => number>>;
  /** What names are found in, and sorted by. */
  name(row: R): string;
}

export function sorted<R>(rows: readonly R[], { sort, descending, find }: Order, { keys, name }: Accessors<R>): R[] {
  const wanted = find.toLowerCase();
  const by = keys[sort];
  const compare = by
    ? (a: R, b: R) => by(a) - by(b)
    : (a: R, b: R) => (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0);
  const found = rows.filter((row) => name(row).toLowerCase().includes(wanted));
  return descending ? found.sort((a, b) => compare(b, a)) : found.sort(compare);
}
