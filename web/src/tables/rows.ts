/**
 * The rows of a table as far as they have been asked for: pages of the top level, and what opened
 * rows have below them.
 */
import { signal } from "@preact/signals";
import type { Side } from "../compare/sides.ts";
import { queryOnce } from "../engine/useQuery.ts";
import type { EngineError } from "../engine/slab.ts";
import { ALLOCATIONS, TOPLEVEL } from "../flame/keys.ts";
import { rowsOf, type Row } from "./row.ts";
import { lineAt, lineOfKeys, lines, type KeyedBranch, type Line } from "./outline.ts";

export type By = "function" | "site" | "module" | "file";
/** What rows open into; modules and files have functions in them, too. */
export type Below = "functions" | "callees" | "callers";

/** What a table is about. */
export interface Subject {
  readonly rec: number;
  readonly filter: readonly string[];
  readonly by: By;
  readonly below: Below;
  readonly sort: string;
  readonly descending: boolean;
  readonly find: string;
  /** What rows of the top level are compared with. */
  readonly baseline: Side | null;
}

const PAGE = 200;
/** Pages that a row is looked for in. */
const MAX_PAGES_SOUGHT = 25;
/** Callees or callers of one function: more are not shown. */
const MAX_BELOW = 500;

/** A level of rows, with the path that led there. */
class Level implements KeyedBranch<Row> {
  count = 0;
  readonly rows = new Map<number, Row>();
  open: ReadonlyMap<number, Level> = new Map();
  /** On its way: takes a line that says so. */
  waiting = false;

  constructor(
    /** Keys of the rows that were opened to get here, from the top level on. */
    readonly trail: readonly string[],
    /** What distinguishes rows of this level. */
    readonly by: By,
  ) {}

  private readonly positions = new Map<string, number>();

  set(at: number, row: Row): void {
    this.rows.set(at, row);
    this.positions.set(row.key, at);
  }

  row(at: number): Row | undefined {
    return this.rows.get(at);
  }

  position(key: string): number | undefined {
    return this.positions.get(key);
  }

  setOpen(at: number, below: Level | null): void {
    const entries = [...this.open].filter(([other]) => other !== at);
    if (below) entries.push([at, below]);
    this.open = new Map(entries.sort(([a], [b]) => a - b));
  }
}

/** Trails of opened rows, kept while the filter or the order changes. */
export type OpenRows = Set<string>;

const trailText = (trail: readonly string[]): string => JSON.stringify(trail);

export class Rows {
  /** Counts changes, for components that show rows. */
  readonly changes = signal(0);
  error: EngineError | null = null;
  /** The first page has come. */
  ready = false;
  private readonly top: Level;
  private readonly pages = new Set<number>();
  private readonly stop = new AbortController();

  constructor(
    readonly subject: Subject,
    private readonly opened: OpenRows,
  ) {
    this.top = new Level([], subject.by);
    void this.page(0);
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

  line(index: number): Line<Row> | null {
    return lineAt(this.top, index);
  }

  /** Asks for the pages of which rows are looked at. */
  need(from: number, to: number): void {
    for (let index = from; index < to; index++) {
      const line = this.line(index);
      if (line && !line.row && line.place.length === 1) void this.page(Math.floor(line.place[0]! / PAGE));
    }
  }

  /** Sites have nothing below but who called, and modules the functions in them. */
  canOpen({ branch, row, place }: Line<Row>): boolean {
    if (!row) return false;
    const level = branch as Level;
    const below = level.open.get(place.at(-1)!);
    if (below && !below.waiting && below.count === 0) return false;
    if (row.key === TOPLEVEL || row.key === ALLOCATIONS) return false;
    return !(this.below(level) === "callees" && (level.by === "site" || isSite(row)));
  }

  isOpen({ branch, place }: Line<Row>): boolean {
    const below = branch.open.get(place.at(-1)!);
    return below !== undefined && below.count > 0;
  }

  isWaiting({ branch, place }: Line<Row>): boolean {
    return (branch as Level).open.get(place.at(-1)!)?.waiting ?? false;
  }

  toggle(line: Line<Row>, open: boolean): void {
    const { row, place } = line;
    const level = line.branch as Level;
    const at = place.at(-1)!;
    if (!row) return;
    const trail = trailText([...level.trail, row.key]);
    if (open && this.canOpen(line)) {
      this.opened.add(trail);
      void this.branch(level, at, row);
    } else if (!open) {
      this.opened.delete(trail);
      level.setOpen(at, null);
      this.changed();
    }
  }

  idOf({ branch, row }: Line<Row>): string | null {
    return row ? trailText([...(branch as Level).trail, row.key]) : null;
  }

  find(id: string): number {
    return lineOfKeys(this.top, JSON.parse(id) as string[]);
  }

  async seek(id: string): Promise<void> {
    const [key] = JSON.parse(id) as string[];
    for (let page = 0; page < MAX_PAGES_SOUGHT && page * PAGE < this.count; page++) {
      if (key === undefined || this.top.position(key) !== undefined) return;
      await this.page(page);
    }
  }

  /** The path of functions that a line stands for, outermost first; null for modules and files. */
  path({ branch, row }: Line<Row>): string[] | null {
    const level = branch as Level;
    if (!row || isGroup(level.by)) return null;
    return this.fragment(level, [...level.trail, row.key]);
  }

  /** The first rows of the table, for copying. */
  async all(most: number): Promise<Row[]> {
    return this.some(0, most);
  }

  /** Rows from `from` on, in as many answers as they take. */
  private async some(from: number, most: number): Promise<Row[]> {
    const found: Row[] = [];
    for (;;) {
      const response = await this.query(from + found.length, most - found.length);
      const rows = rowsOf(response);
      if (from === 0) this.top.count = response.count;
      found.push(...rows);
      if (rows.length === 0 || found.length >= Math.min(most, response.count - from)) return found;
    }
  }

  private query(offset: number, limit: number) {
    const { rec, filter, by, sort, descending, find, baseline } = this.subject;
    const query = { query: "table" as const, rec, filter, by, sort, descending, find, offset, limit, baseline };
    return queryOnce(query, this.stop.signal);
  }

  private async page(page: number): Promise<void> {
    if (this.pages.has(page)) return;
    this.pages.add(page);
    try {
      this.fill(this.top, page * PAGE, await this.some(page * PAGE, PAGE));
      this.ready = true;
      this.error = null;
    } catch (error) {
      if (this.stop.signal.aborted) return;
      this.error = error as EngineError;
    }
    this.changed();
  }

  private async branch(level: Level, at: number, row: Row): Promise<void> {
    if (level.open.has(at)) return;
    const direction = this.below(level);
    const trail = [...level.trail, row.key];
    const below = new Level(trail, direction === "functions" ? "function" : level.by);
    below.waiting = true;
    level.setOpen(at, below);
    this.changed();
    try {
      const response = await queryOnce(
        {
          query: "branches",
          rec: this.subject.rec,
          filter: this.subject.filter,
          by: isGroup(level.by) ? level.by : "function",
          path: direction === "functions" ? [row.key] : this.fragment(level, trail),
          direction,
        },
        this.stop.signal,
      );
      const rows = rowsOf(response).slice(0, MAX_BELOW);
      below.count = rows.length;
      below.waiting = false;
      this.fill(below, 0, rows);
    } catch (error) {
      if (this.stop.signal.aborted) return;
      level.setOpen(at, null);
      this.error = error as EngineError;
    }
    this.changed();
  }

  private fill(level: Level, from: number, rows: readonly Row[]): void {
    rows.forEach((row, index) => {
      level.set(from + index, row);
      if (this.opened.has(trailText([...level.trail, row.key]))) void this.branch(level, from + index, row);
    });
  }

  /** Where rows of this level lead: who allocates at a site is seen by its callers alone. */
  private below({ by }: Level): Below {
    const { below } = this.subject;
    if (by === "site") return "callers";
    return below === "functions" && !isGroup(by) ? "callers" : below;
  }

  /** A trail as a piece of a call path, outermost first: without the module or file that has it. */
  private fragment(level: Level, trail: readonly string[]): string[] {
    const inside = isGroup(this.subject.by) && !isGroup(level.by);
    const calls = inside ? trail.slice(1) : trail.slice();
    return this.below(level) === "callers" ? calls.toReversed() : calls;
  }

  private changed(): void {
    this.changes.value += 1;
  }
}

function isGroup(by: By): boolean {
  return by === "module" || by === "file";
}

/** Whether a row is about an allocation site. */
export function isSite(row: Row): boolean {
  return row.key !== row.label && /:\d+:\d+-\d+$/.test(row.key);
}
