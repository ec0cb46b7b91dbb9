/**
 * Rows of which some are open: which row stands at which height, without laying them all out. Rows
 * that are not there yet (a page or a branch still on its way) have their height all the same.
 */

/** The rows on one level below one row. */
export interface Branch<Row> {
  /** How many rows there are, known or not. */
  readonly count: number;
  /** The row at a position, if it is known. */
  row(at: number): Row | undefined;
  /** Open rows, by position, in ascending order. */
  readonly open: ReadonlyMap<number, Branch<Row>>;
}

/** Rows that are found by what they are. */
export interface KeyedBranch<Row> extends Branch<Row> {
  /** The position of the row with this key, if it is known. */
  position(key: string): number | undefined;
  readonly open: ReadonlyMap<number, KeyedBranch<Row>>;
}

/** Where a row is: positions from the top level on. */
export type Place = readonly number[];

export interface Line<Row> {
  readonly place: Place;
  readonly row: Row | undefined;
  readonly branch: Branch<Row>;
}

/** Lines that a branch takes with everything open in it. */
export function lines<Row>(branch: Branch<Row>): number {
  let sum = branch.count;
  for (const below of branch.open.values()) sum += lines(below);
  return sum;
}

/** The content of line `index`. */
export function lineAt<Row>(branch: Branch<Row>, index: number): Line<Row> | null {
  const place: number[] = [];
  let here = branch;
  let rest = index;
  for (;;) {
    const step = descend(here, rest);
    if (!step) return null;
    place.push(step.at);
    if (!step.below) return { place, row: here.row(step.at), branch: here };
    here = step.below;
    rest = step.rest;
  }
}

/** The row of `branch` that line `index` belongs to, and which line below it, if any. */
function descend<Row>(
  branch: Branch<Row>,
  index: number,
): { at: number; below: Branch<Row> | null; rest: number } | null {
  let passed = 0;
  for (const [at, below] of branch.open) {
    if (index <= at + passed) break;
    const size = lines(below);
    if (index <= at + passed + size) return { at, below, rest: index - at - passed - 1 };
    passed += size;
  }
  const at = index - passed;
  return at >= 0 && at < branch.count ? { at, below: null, rest: 0 } : null;
}

/** The line of the row that these keys lead to from the top level on, or -1 as long as it is not known. */
export function lineOfKeys<Row>(top: KeyedBranch<Row>, keys: readonly string[]): number {
  const place: number[] = [];
  let here: KeyedBranch<Row> | undefined = top;
  for (const key of keys) {
    const at: number | undefined = here?.position(key);
    if (!here || at === undefined) return -1;
    place.push(at);
    here = here.open.get(at);
  }
  return lineOf(top, place);
}

/** The line in which a row stands, or -1. */
export function lineOf<Row>(branch: Branch<Row>, place: Place): number {
  let line = -1;
  let here: Branch<Row> | undefined = branch;
  for (const at of place) {
    if (!here || at >= here.count) return -1;
    line += at + 1;
    for (const [open, below] of here.open) {
      if (open >= at) break;
      line += lines(below);
    }
    here = here.open.get(at);
  }
  return line;
}
