/** A table about a snapshot: tools, the grid, and what can be done with the row under the cursor. */
import "../../tables/tables.css";
import "../heap.css";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useKeys } from "../../shell/keys.ts";
import { passOn } from "../../shell/passOn.ts";
import { go, page, param, withParam } from "../../state/page.ts";
import type { Column } from "../../tables/columns.ts";
import { FindBox } from "../../tables/FindBox.tsx";
import { Grid, type Looks } from "../../tables/Grid.tsx";
import { useSelection } from "../../tables/selection.ts";
import { grouped } from "../../text/units.ts";
import { Icon } from "../../widgets/Icon.tsx";
import { copyText } from "../../widgets/notice.ts";
import { Empty, ErrorMessage } from "../../widgets/State.tsx";
import { snapshot } from "../state.ts";
import { TreeRows, type Source } from "./rows.ts";
import { SaveTable } from "./SaveTable.tsx";

/** Rows that a file has at most. */
const MAX_SAVED = 100_000;

export interface Order {
  sort: string;
  descending: boolean;
  find: string;
}

interface Props<R> {
  /** Before the names of the table's parameters in the URL. */
  id: string;
  /** For the list of keys. */
  title: string;
  /** What the rows depend on, beside their order. */
  subject: string;
  source(order: Order): Source<R>;
  columns: readonly Column<R>[];
  looks: Looks<R>;
  /** The column that it is sorted by at first, downwards. */
  first: string;
  /** Whether rows can be found by name. */
  finds?: boolean;
  tools?: ComponentChildren;
  /** What Enter and a double click do. */
  open?: ((row: R) => void) | undefined;
  opensWhat?: string;
  /** What the key `w` does: the way to the other half of the page. */
  across?(row: R): void;
  /** For the row under the cursor; `selected` are those that are selected, it among them. */
  actions?(row: R, selected: readonly R[]): ComponentChildren;
  nothing: string;
}

export function HeapTable<R>(props: Props<R>) {
  const { id, columns, looks, first, finds = true } = props;
  const sort = param(`${id}-sort`, first);
  const direction = param(`${id}-desc`, "1");
  const find = param(`${id}-find`, "");
  const known = columns.some((column) => column.sort === sort.value) || sort.value === "name";
  const order: Order = { sort: known ? sort.value : first, descending: direction.value === "1", find: find.value };
  const rows = useRows(`${props.subject} ${JSON.stringify(order)}`, () => new TreeRows(props.source(order), looks.key));
  const selection = useSelection(rows, props.subject);
  const { line } = selection;
  const field = useRef<HTMLInputElement>(null);
  const root = useRef<HTMLDivElement>(null);

  const toGrid = (event: KeyboardEvent): void =>
    passOn(root.current?.querySelector<HTMLElement>(".grid") ?? null, event);
  useKeys(props.title, [
    { keys: "j k ArrowDown ArrowUp", does: "next, previous row; with Shift, several", run: toGrid },
    { keys: "ArrowRight ArrowLeft", does: "open, close the row", run: toGrid },
    ...(props.opensWhat ? [{ keys: "Enter", does: props.opensWhat }] : []),
    ...(props.across
      ? [
          {
            keys: "w",
            does: "the other half: who allocated it, or what retains it",
            run: () => across(props, line?.row),
          },
        ]
      : []),
    { keys: "Ctrl+c", does: "copy the selected rows" },
    ...(finds ? [{ keys: "/", does: "find", run: () => field.current?.select() }] : []),
  ]);

  const sortBy = (column: string): void => {
    const descending = order.sort === column ? !order.descending : column !== "name";
    const more = withParam(page.value.more, `${id}-sort`, column === first ? "" : column);
    go({ more: withParam(more, `${id}-desc`, descending ? "" : "0") });
  };
  return (
    <div class="tables" ref={root}>
      <div class="tables-tools">
        {finds && <FindBox field={field} find={find} />}
        {props.tools}
        <span class="grow" />
        <span class="quiet" role="status">
          {rows.ready && `${grouped(rows.count)} ${rows.count === 1 ? "row" : "rows"}`}
        </span>
        <button
          type="button"
          class="icon-button"
          title="Copy the rows that are there as text, tabs between columns"
          aria-label="Copy the table as text"
          onClick={() => void copyText(asText(rows.known, columns, looks), `${grouped(rows.known.length)} rows`)}
        >
          <Icon name="copy" />
        </button>
        <SaveTable
          name={`${id}-${snapshot.value?.number ?? 0}`}
          all={() => rows.all(MAX_SAVED)}
          cells={(row) => cellsOf(row, columns, looks)}
        />
      </div>
      {rows.error && !rows.ready ? (
        <ErrorMessage error={rows.error} />
      ) : rows.ready && rows.count === 0 ? (
        <Empty title={order.find ? `Nothing contains “${order.find}”` : props.nothing} />
      ) : (
        <Grid
          rows={rows}
          columns={columns}
          looks={looks}
          sort={order.sort}
          descending={order.descending}
          selection={selection}
          onSort={sortBy}
          onFocus={(line) => {
            if (line.row !== undefined && props.open) props.open(line.row);
            else rows.toggle(line, !rows.isOpen(line));
          }}
          copied={() => asText(selection.selected(), columns, looks)}
        />
      )}
      <div class="tables-actions">
        {line?.row !== undefined && (
          <>
            <strong class="clip" title={looks.name(line.row)}>
              {looks.name(line.row)}
            </strong>
            <span class="clip quiet">{looks.place(line.row)}</span>
            <span class="grow" />
            {props.actions?.(line.row, selection.selected())}
          </>
        )}
      </div>
    </div>
  );
}

function across<R>(props: Props<R>, row: R | undefined): void {
  if (row !== undefined) props.across?.(row);
}

/** Rows with tabs between columns, and a line of titles. */
function asText<R>(rows: readonly R[], columns: readonly Column<R>[], looks: Looks<R>): string {
  const cell = (text: string): string => text.replace(/[\t\r\n]+/g, " ");
  const lines = [null, ...rows].map((row) => cellsOf(row, columns, looks));
  return lines.map((cells) => cells.map(cell).join("\t")).join("\n") + "\n";
}

/** The cells of a row as a spreadsheet takes them; of none, the titles. */
function cellsOf<R>(row: R | null, columns: readonly Column<R>[], looks: Looks<R>): string[] {
  if (row === null) return [looks.nameTitle, looks.placeTitle, ...columns.map(({ title }) => title)];
  return [looks.name(row), looks.place(row), ...columns.map((column) => column.plain(row))];
}

/** The rows asked for; the ones before stay until the first new ones have come. */
function useRows<R>(key: string, make: () => TreeRows<R>): TreeRows<R> {
  const wanted = useMemo(make, [key]);
  const shown = useRef(wanted);
  // Reading the signal draws again when the first rows are there.
  const come = wanted.changes.value > 0;
  if (come || !shown.current.ready) shown.current = wanted;
  useEffect(() => () => wanted.dispose(), [wanted]);
  return shown.current;
}
