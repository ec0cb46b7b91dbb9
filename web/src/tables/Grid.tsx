/** Rows of one height, of which only those in sight exist, with a cursor that the keyboard moves. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { percent } from "../text/units.ts";
import { asksForMenu } from "../widgets/Menu.tsx";
import { useSize } from "../widgets/size.ts";
import type { Column, Spare } from "./columns.ts";
import type { GridRows } from "./gridRows.ts";
import type { Line } from "./outline.ts";
import type { Selection } from "./selection.ts";

/** CSS pixels, as `--row` in style.css. */
const ROW = 24;
/** From the left edge to a menu that the keyboard opens. */
const EDGE = 90;
/** Rows beyond the edges that are drawn too, so that scrolling does not show gaps. */
const MARGIN = 8;
/** Browsers do not scroll further than this many pixels. */
const HIGHEST = 12_000_000;

/** The content of a row, except for its numbers. */
export interface Looks<R> {
  /** The name of the table for screen readers. */
  readonly label: string;
  readonly nameTitle: string;
  /** False where rows cannot be sorted by their name. */
  readonly nameSorts?: boolean;
  /** What identifies the row among those beside it, in every order. */
  key(row: R): string;
  /** A share of 1, of all there is; the length of the bar. */
  share(row: R): number;
  /** A class for the bar. */
  bar?(row: R): string;
  name(row: R): string;
  /** In place of the bare name. */
  nameNode?(row: R): ComponentChildren;
  /** The name with more about it, where the pointer rests on it. */
  nameTooltip?(row: R): string;
  readonly placeTitle: string;
  place(row: R): string;
}

interface Props<R> {
  rows: GridRows<R>;
  columns: readonly Column<R>[];
  looks: Looks<R>;
  sort: string;
  descending: boolean;
  selection: Selection<R>;
  onSort(column: string): void;
  onFocus(line: Line<R>): void;
  /** The menu of a row, at a point of the window. */
  onMenu?: ((line: Line<R>, at: { x: number; y: number }) => void) | undefined;
  /** What Ctrl+C puts on the clipboard. */
  copied(): string;
}

export function Grid<R>(props: Props<R>) {
  const { rows, columns, selection } = props;
  const { cursor } = selection;
  const scroller = useRef<HTMLDivElement>(null);
  const size = useSize(scroller);
  const [scroll, setScroll] = useState(0);
  // Reading the signal draws again as rows come.
  void rows.changes.value;
  const total = rows.size;
  const inner = Math.max(ROW * 2, size.height - ROW);
  const first = Math.max(0, Math.floor(scroll / ROW) - MARGIN);
  const last = Math.min(total, Math.ceil((scroll + inner) / ROW) + MARGIN);
  useLayoutEffect(() => rows.need(first, last));

  const reveal = (index: number): void => {
    const node = scroller.current;
    if (!node) return;
    if (index * ROW < node.scrollTop) node.scrollTop = index * ROW;
    else if ((index + 1) * ROW > node.scrollTop + inner) node.scrollTop = (index + 1) * ROW - inner;
  };
  // In another order, what was selected is somewhere else: it is looked for, and the rows there are shown.
  const order = `${props.sort} ${props.descending}`;
  const ordered = useRef({ rows, order });
  const sought = useRef<GridRows<R> | null>(null);
  useLayoutEffect(() => {
    if (ordered.current.rows !== rows) {
      const moved = ordered.current.order !== order && selection.id !== null;
      ordered.current = { rows, order };
      sought.current = moved ? rows : null;
      if (moved && cursor < 0) void rows.seek(selection.id!);
    }
    if (sought.current === rows && cursor >= 0) {
      sought.current = null;
      reveal(cursor);
    }
  });
  const move = (index: number, extend: boolean): void => {
    const to = Math.max(0, Math.min(total - 1, index));
    selection.move(to, extend);
    reveal(to);
  };
  const parentLine = (index: number): number => {
    const depth = rows.line(index)?.place.length ?? 1;
    let above = index - 1;
    while (above >= 0 && (rows.line(above)?.place.length ?? 1) >= depth) above--;
    return depth > 1 ? above : index;
  };

  const key = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const line = rows.line(cursor);
    const visible = Math.max(1, Math.floor(inner / ROW) - 1);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      j: 1,
      J: 1,
      ArrowUp: -1,
      k: -1,
      K: -1,
      PageDown: visible,
      PageUp: -visible,
      Home: -total,
      End: total,
    };
    const step = steps[event.key];
    if (step !== undefined) move(cursor + step, event.shiftKey);
    else if (!line) return;
    else if (props.onMenu && asksForMenu(event)) {
      const row = scroller.current?.querySelector(`#row-${cursor}`)?.getBoundingClientRect();
      const frame = scroller.current?.getBoundingClientRect();
      props.onMenu(line, { x: (frame?.left ?? 0) + EDGE, y: (row ?? frame)?.bottom ?? 0 });
    } else if (event.key === "ArrowRight") {
      if (rows.isOpen(line)) move(cursor + 1, false);
      else rows.toggle(line, true);
    } else if (event.key === "ArrowLeft") {
      if (rows.isOpen(line)) rows.toggle(line, false);
      else move(parentLine(cursor), false);
    } else if (event.key === "Enter" || event.key === " ") props.onFocus(line);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const shown: { index: number; line: Line<R> }[] = [];
  for (let index = first; index < last; index++) {
    const line = rows.line(index);
    if (line) shown.push({ index, line });
  }
  return (
    <div
      class="grid"
      ref={scroller}
      role="treegrid"
      aria-label={props.looks.label}
      aria-rowcount={total + 1}
      aria-multiselectable="true"
      aria-activedescendant={shown.some(({ index }) => index === cursor) ? `row-${cursor}` : undefined}
      tabIndex={0}
      style={numbers(columns)}
      onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
      onKeyDown={key}
      onCopy={(event) => {
        if (String(getSelection()) !== "") return;
        event.clipboardData?.setData("text/plain", props.copied());
        event.preventDefault();
      }}
    >
      <Head {...props} />
      <div class="grid-rows" role="rowgroup" style={{ height: `${Math.min(HIGHEST, total * ROW)}px` }}>
        {shown.map(({ index, line }) => (
          <GridRow
            key={index}
            index={index}
            line={line}
            rows={rows}
            columns={columns}
            looks={props.looks}
            selected={selection.has(line)}
            onClick={(event) => move(index, event.shiftKey)}
            onFocus={() => props.onFocus(line)}
            onMenu={
              props.onMenu &&
              ((event) => {
                event.preventDefault();
                if (!selection.has(line)) move(index, false);
                props.onMenu?.(line, { x: event.clientX, y: event.clientY });
              })
            }
          />
        ))}
      </div>
    </div>
  );
}

/** How many columns of numbers there are, the narrower the window the fewer. */
function numbers<R>(columns: readonly Column<R>[]): Record<string, number> {
  const upTo = (spare: Spare) => columns.filter((column) => column.spare <= spare).length;
  return { "--all": upTo(2), "--some": upTo(1), "--few": upTo(0) };
}

function Head<R>({ columns, sort, descending, looks, onSort }: Props<R>) {
  const order = (column: string) => (column !== sort ? "none" : descending ? "descending" : "ascending");
  const title = (column: string, text: string, what: string, kind: string, sorts = true) =>
    sorts ? (
      <div class={kind} role="columnheader" aria-sort={order(column)} key={column}>
        <button type="button" title={what} onClick={() => onSort(column)} tabIndex={-1}>
          {text}
          <span class="grid-order" aria-hidden="true">
            {column === sort && (descending ? "▾" : "▴")}
          </span>
        </button>
      </div>
    ) : (
      <div class={kind} role="columnheader" key={column} title={what}>
        {text}
        <span class="grid-order" />
      </div>
    );
  return (
    <div class="grid-row grid-head" role="row" aria-rowindex={1}>
      <div class="grid-share" role="columnheader">
        Share
      </div>
      {columns.map((column) =>
        title(column.sort, column.title, column.what, `grid-number spare-${column.spare}`, column.sorts),
      )}
      {title("name", looks.nameTitle, "name", "grid-name", looks.nameSorts)}
      <div class="grid-place" role="columnheader">
        {looks.placeTitle}
      </div>
    </div>
  );
}

interface RowProps<R> {
  index: number;
  line: Line<R>;
  rows: GridRows<R>;
  columns: readonly Column<R>[];
  looks: Looks<R>;
  selected: boolean;
  onClick(event: MouseEvent): void;
  onFocus(): void;
  onMenu: ((event: MouseEvent) => void) | undefined;
}

function GridRow<R>({ index, line, rows, columns, looks, selected, onClick, onFocus, onMenu }: RowProps<R>) {
  const { row, place } = line;
  const depth = place.length - 1;
  const opens = rows.canOpen(line);
  const open = rows.isOpen(line);
  return (
    <div
      id={`row-${index}`}
      class={selected ? "grid-row selected" : "grid-row"}
      role="row"
      aria-rowindex={index + 2}
      aria-level={depth + 1}
      aria-expanded={opens ? open : undefined}
      aria-selected={selected}
      style={{ transform: `translateY(${index * ROW}px)` }}
      onClick={onClick}
      onDblClick={onFocus}
      onContextMenu={onMenu}
    >
      {row ? (
        <>
          <div class="grid-share" role="gridcell">
            <span
              class={`grid-bar ${looks.bar?.(row) ?? ""}`}
              style={{ width: `${Math.max(0, Math.min(1, looks.share(row))) * 100}%` }}
            />
            <span class="grid-percent">{percent(looks.share(row))}</span>
          </div>
          {columns.map((column) => (
            <div key={column.sort} class={`grid-number spare-${column.spare}`} role="gridcell">
              {column.text(row)}
            </div>
          ))}
          <div
            class="grid-name"
            role="gridcell"
            title={looks.nameTooltip?.(row) ?? looks.name(row)}
            style={{ paddingLeft: `${depth * 16}px` }}
          >
            <button
              type="button"
              class="grid-opener"
              tabIndex={-1}
              aria-hidden="true"
              disabled={!opens}
              onClick={(event) => {
                event.stopPropagation();
                rows.toggle(line, !open);
              }}
              onDblClick={(event) => event.stopPropagation()}
            >
              {rows.isWaiting(line) ? "…" : opens ? (open ? "▾" : "▸") : ""}
            </button>
            <span class="clip">{looks.nameNode ? looks.nameNode(row) : looks.name(row)}</span>
          </div>
          <div class="grid-place clip quiet" role="gridcell" title={looks.place(row)}>
            {looks.place(row)}
          </div>
        </>
      ) : (
        <div class="grid-name faint" role="gridcell">
          …
        </div>
      )}
    </div>
  );
}
