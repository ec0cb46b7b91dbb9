/** The columns of a table: what they are called, how they read, and how they are copied. */
import { changeText } from "../compare/change.ts";
import { estimatedBytes as bytes, estimatedCount as count } from "../state/estimates.ts";
import { percent, seconds } from "../text/units.ts";
import type { Row } from "./row.ts";

/** How early a column is left out as windows get narrower: 2 first, 1 next, 0 never. The style sheet has a rule for each. */
export type Spare = 0 | 1 | 2;

export interface Column<R = Row> {
  /** As the engine sorts by it. */
  readonly sort: string;
  readonly title: string;
  readonly what: string;
  /** As the page shows it. */
  text(row: R): string;
  /** As a spreadsheet takes it. */
  plain(row: R): string;
  readonly spare: Spare;
  /** False for what tables cannot be sorted by. */
  readonly sorts?: boolean;
}

const number = (value: number): string => (Number.isFinite(value) ? String(value) : "");

export const COLUMNS: readonly Column[] = [
  {
    sort: "total",
    title: "Total",
    what: "bytes allocated inside, by it and by what it called",
    text: (row) => bytes(row.total),
    plain: (row) => number(Math.round(row.total)),
    spare: 0,
  },
  {
    sort: "self",
    title: "Self",
    what: "bytes that it allocated itself",
    text: (row) => (row.self > 0 ? bytes(row.self) : "–"),
    plain: (row) => number(Math.round(row.self)),
    spare: 1,
  },
  {
    sort: "live",
    title: "Live at end",
    what: "bytes that were never collected",
    text: (row) => (row.live > 0 ? bytes(row.live) : "–"),
    plain: (row) => number(Math.round(row.live)),
    spare: 1,
  },
  {
    sort: "blocks",
    title: "Blocks",
    what: "how many blocks that is",
    text: (row) => count(row.blocks),
    plain: (row) => number(Math.round(row.blocks)),
    spare: 2,
  },
  {
    sort: "lifetime",
    title: "Lifetime",
    what: "mean lifetime of the blocks",
    text: (row) => (Number.isFinite(row.lifetime) ? seconds(row.lifetime) : "–"),
    plain: (row) => number(row.lifetime),
    spare: 2,
  },
];

/** The same, with a baseline beside the totals. */
export const COMPARED: readonly Column[] = [
  ...COLUMNS.slice(0, 1),
  {
    sort: "before",
    title: "Before",
    what: "total bytes in the baseline",
    text: ({ before }) => (before === null ? "" : before > 0 ? bytes(before) : "–"),
    plain: ({ before }) => (before === null ? "" : number(Math.round(before))),
    spare: 1,
    sorts: false,
  },
  {
    sort: "change",
    title: "Change",
    what: "how the total differs from the baseline's; uncertain is what sampling alone may explain",
    text: ({ before, status, total }) => (before === null || !status ? "" : changeText(status, before, total)),
    plain: ({ before, total }) => (before === null ? "" : number(Math.round(total - before))),
    spare: 0,
    sorts: false,
  },
  ...COLUMNS.slice(1).map((column) => ({ ...column, spare: column.spare === 0 ? (1 as const) : (2 as const) })),
];

export function placeOf({ file, line }: Row): string {
  if (!file) return "";
  return line === null ? file : `${file}:${line}`;
}

/** Rows with tabs between columns, and a line of titles: what spreadsheets and people read. */
export function tabSeparated(rows: readonly Row[]): string {
  const titles = [
    "name",
    "module",
    "place",
    "share",
    "total bytes",
    "self bytes",
    "live bytes",
    "blocks",
    "lifetime s",
  ];
  const cell = (text: string): string => text.replace(/[\t\r\n]+/g, " ");
  const lines = rows.map((row) =>
    [row.label, row.module ?? "", placeOf(row), percent(row.share), ...COLUMNS.map((column) => column.plain(row))]
      .map(cell)
      .join("\t"),
  );
  return [titles.join("\t"), ...lines].join("\n") + "\n";
}
