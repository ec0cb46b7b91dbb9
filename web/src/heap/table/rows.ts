/** The rows of a table about a snapshot, as far as they have been asked for, some of them open. */
import { signal } from "@preact/signals";
import type { EngineError } from "../../engine/slab.ts";
import type { GridRows } from "../../tables/gridRows.ts";
import { lineAt, lineOfKeys, lines, type KeyedBranch, type Line } from "../../tables/outline.ts";

/** Rows of one level, from `offset` on, and how many there are. */
export interface Page<R> {
  rows: readonly R[];
  count: number;
}

export interface Source<R> {
  /** The rows below one, or of the top level. */
  load(above: R | null, offset: number, limit: number, signal: AbortSignal): Promise<Page<R>>;
  opens?(row: R): boolean;
  /** Is open from the beginning. */
  startsOpen?(row: R): boolean;
}

const PAGE = 200;
/** At once, of all rows: each answer sorts them anew. */
const MANY = 10_000;
/** Pages that a row is looked for in. */
const MAX_PAGES_SOUGHT = 25;

class Level<R> implements KeyedBranch<R> {
  count = 0;
  readonly rows = new Map<number, R>();
  readonly pages = new Set<number>();
  open: ReadonlyMap<number, Level<R>> = new Map();
  waiting = false;

  private readonly positions = new Map<string, number>();

  constructor(
    readonly above: R | null,
    /** Keys of the rows that lead here, from the top level on. */
    readonly trail: readonly string[],
  ) {}

  set(at: number, key: string, row: R): void {
    this.rows.set(at, row);
    this.positions.set(key, at);
  }

  position(key: string): number | undefined {
    return this.positions.get(key);
  }

  row(at: number): R | undefined {
    return this.rows.get(at);
  }

  setOpen(at: number, below: Level<R> | null): void {
    const entries = [...this.open].filter(([other]) => other !== at);
    if (below) entries.push([at, below]);
    this.open = new Map(entries.sort(([a], [b]) => a - b));
  }
}

export class TreeRows<R> implements GridRows<R> {
  readonly changes = signal(0);
  error: EngineError | null = null;
  /** The first page has come. */
  ready = false;
  private readonly top = new Level<R>(null, []);
  private readonly stop = new AbortController();

  constructor(
    private readonly source: Source<R>,
    private readonly key: (row: R) => string,
  ) {
    void this.page(this.top, 0);
  }

  dispose(): void {
    this.stop.abort();
  }

  get size(): number {
    return lines(this.top);
  }

  /** Rows of the top level. */
  get count(): number {
    return this.top.count;
  }

  line(index: number): Line<R> | null {
    return lineAt(this.top, index);
  }

  need(from: number, to: number): void {
    for (let index = from; index < to; index++) {
      const line = this.line(index);
      if (line && !line.row) void this.page(line.branch as Level<R>, Math.floor(line.place.at(-1)! / PAGE));
    }
  }

  canOpen({ row }: Line<R>): boolean {
    return row !== undefined && (this.source.opens?.(row) ?? false);
  }

  isOpen(line: Line<R>): boolean {
    return (this.below(line)?.count ?? 0) > 0;
  }

  isWaiting(line: Line<R>): boolean {
    return this.below(line)?.waiting ?? false;
  }

  toggle(line: Line<R>, open: boolean): void {
    const level = line.branch as Level<R>;
    const at = line.place.at(-1)!;
    if (!open) level.setOpen(at, null);
    else if (this.canOpen(line) && line.row !== undefined && !this.below(line)) this.openBelow(level, at, line.row);
    this.changed();
  }

  idOf({ branch, row }: Line<R>): string | null {
    return row === undefined ? null : JSON.stringify([...(branch as Level<R>).trail, this.key(row)]);
  }

  find(id: string): number {
    return lineOfKeys(this.top, JSON.parse(id) as string[]);
  }

  async seek(id: string): Promise<void> {
    const [key] = JSON.parse(id) as string[];
    for (let page = 0; page < MAX_PAGES_SOUGHT && page * PAGE < this.count; page++) {
      if (key === undefined || this.top.position(key) !== undefined) return;
      await this.page(this.top, page);
    }
  }

  /** All rows of the top level, `most` at most. */
  async all(most: number): Promise<R[]> {
    const found: R[] = [];
    for (;;) {
      const wanted = Math.min(MANY, most - found.length);
      const { rows, count } = await this.source.load(this.top.above, found.length, wanted, this.stop.signal);
      found.push(...rows);
      if (rows.length === 0 || found.length >= Math.min(most, count)) return found;
    }
  }

  /** The rows that are there, of the top level. */
  get known(): R[] {
    return [...this.top.rows].sort(([a], [b]) => a - b).map(([, row]) => row);
  }

  private below({ branch, place }: Line<R>): Level<R> | undefined {
    return (branch as Level<R>).open.get(place.at(-1)!);
  }

  private openBelow(level: Level<R>, at: number, row: R): void {
    const below = new Level<R>(row, [...level.trail, this.key(row)]);
    below.waiting = true;
    level.setOpen(at, below);
    void this.page(below, 0);
  }

  private async page(level: Level<R>, page: number): Promise<void> {
    if (level.pages.has(page)) return;
    level.pages.add(page);
    try {
      const { rows, count } = await this.source.load(level.above, page * PAGE, PAGE, this.stop.signal);
      level.count = count;
      level.waiting = false;
      rows.forEach((row, index) => {
        level.set(page * PAGE + index, this.key(row), row);
        if (this.source.opens?.(row) && this.source.startsOpen?.(row)) this.openBelow(level, page * PAGE + index, row);
      });
      if (level === this.top) this.ready = true;
    } catch (error) {
      if (this.stop.signal.aborted) return;
      level.waiting = false;
      this.error = error as EngineError;
    }
    this.changed();
  }

  private changed(): void {
    this.changes.value += 1;
  }
}

/** Rows that are all there already. */
export function given<R>(rows: readonly R[]): Source<R> {
  return {
    load: (_, offset, limit) => Promise.resolve({ rows: rows.slice(offset, offset + limit), count: rows.length }),
  };
}
