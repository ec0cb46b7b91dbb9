/**
 * Which row shows what. The focus, a path of one or more functions, is in the middle; its
 * callees grow out of its last function, its callers out of its first.
 *
 *     flame                      icicle
 *       callees of callees         callers of callers
 *       callees                    callers
 *       focus, last                focus, first
 *       focus, first               focus, last
 *       callers                    callees
 *       callers of callers         callees of callees
 */

export type Direction = "both" | "callees" | "callers";
export type Orientation = "flame" | "icicle";
export type Part = "callers" | "focus" | "callees";

/** A box: of the callees or callers, by its place in their tree; of the focus, by its position. */
export interface Box {
  readonly part: Part;
  readonly at: number;
}

/** How many rows each part has. */
export interface Rows {
  readonly orientation: Orientation;
  /** Rows of callers and of callees, the focus itself not counted. */
  readonly callers: number;
  readonly focus: number;
  readonly callees: number;
}

export interface RowContent {
  readonly part: Part;
  /** Row of the part's tree (1 is next to the focus), or position in the focus. */
  readonly depth: number;
}

export function rowCount(rows: Rows): number {
  return rows.callers + rows.focus + rows.callees;
}

/** What row `row` (0 is topmost) shows. */
export function contentOf(rows: Rows, row: number): RowContent {
  // Counted from the outermost callers on, whatever the orientation.
  const outward = rows.orientation === "icicle" ? row : rowCount(rows) - 1 - row;
  if (outward < rows.callers) {
    return { part: "callers", depth: rows.callers - outward };
  }
  if (outward < rows.callers + rows.focus) {
    return { part: "focus", depth: outward - rows.callers };
  }
  return { part: "callees", depth: outward - rows.callers - rows.focus + 1 };
}

/** The row, from the top, that shows `content`. */
export function rowShowing(rows: Rows, content: RowContent): number {
  let outward: number;
  switch (content.part) {
    case "callers":
      outward = rows.callers - content.depth;
      break;
    case "focus":
      outward = rows.callers + content.depth;
      break;
    case "callees":
      outward = rows.callers + rows.focus + content.depth - 1;
      break;
  }
  return rows.orientation === "icicle" ? outward : rowCount(rows) - 1 - outward;
}

/** The first row to show in a window of `visible` rows: the focus, with most room for the side that
 *  has more to show. */
export function firstTop(rows: Rows, visible: number): number {
  const spare = Math.max(0, rowCount(rows) - visible);
  const focusTop = rowShowing(rows, {
    part: "focus",
    depth: rows.orientation === "icicle" ? 0 : rows.focus - 1,
  });
  const above = rows.orientation === "icicle" ? rows.callers : rows.callees;
  const below = rows.orientation === "icicle" ? rows.callees : rows.callers;
  const room = Math.max(0, visible - rows.focus);
  const half = room / 2;
  // Each side gets half, or what the other leaves over.
  const wantedAbove = Math.min(above, Math.max(half, room - below));
  return Math.min(spare, Math.max(0, focusTop - wantedAbove));
}
