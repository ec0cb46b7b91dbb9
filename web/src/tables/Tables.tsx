/** Who allocated, as a table: by function, call site, module or file; rows open into who called whom. */
import "./tables.css";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { selectedBaseline } from "../compare/sides.ts";
import { revision } from "../engine/useQuery.ts";
import { focusForUrl, MODULE } from "../flame/keys.ts";
import { transformsOf } from "../flame/transforms.ts";
import { joins, showWhy } from "../heap/join/links.ts";
import { useKeys } from "../shell/keys.ts";
import { passOn } from "../shell/passOn.ts";
import type { View } from "../shell/registry.ts";
import { placeOf as sourceOf, useSourceOf } from "../source/place.ts";
import { filter, go, param, rec, page, withParam } from "../state/page.ts";
import { grouped } from "../text/units.ts";
import { Icon } from "../widgets/Icon.tsx";
import { copyText } from "../widgets/notice.ts";
import { openMenu, type MenuItem } from "../widgets/Menu.tsx";
import { Segmented } from "../widgets/Segmented.tsx";
import { Empty, ErrorMessage } from "../widgets/State.tsx";
import type { Row } from "./row.ts";
import { COLUMNS, COMPARED, placeOf, tabSeparated } from "./columns.ts";
import { FindBox } from "./FindBox.tsx";
import { Grid, type Looks } from "./Grid.tsx";
import type { Line } from "./outline.ts";
import { RowActions } from "./RowActions.tsx";
import { useSelection } from "./selection.ts";
import { isSite, Rows, type Below, type By, type OpenRows, type Subject } from "./rows.ts";

const by = param("by", "function");
const sort = param("sort", "total");
const direction = param("desc", "1");
const find = param("find", "");
const below = param("below", "");

const BY = [
  { id: "function", title: "Functions" },
  { id: "site", title: "Call sites", what: "the places in the source that allocate" },
  { id: "module", title: "Modules" },
  { id: "file", title: "Files" },
];
const FUNCTIONS = { id: "functions", title: "Functions", what: "rows open into the functions in them" };
const BELOW = [
  { id: "callers", title: "Callers", what: "rows open into who called" },
  { id: "callees", title: "Callees", what: "rows open into what was called" },
];
/** Rows that "copy" takes at most. */
const MAX_COPIED = 10_000;

function Tables() {
  const rows = useRows();
  const { rec: of, filter: conditions, by: rowsBy, below: opensInto } = rows.subject;
  const selection = useSelection(rows, JSON.stringify([of, conditions, rowsBy, opensInto]));
  const field = useRef<HTMLInputElement>(null);
  const root = useRef<HTMLDivElement>(null);

  const toGrid = (event: KeyboardEvent): void =>
    passOn(root.current?.querySelector<HTMLElement>(".grid") ?? null, event);
  useKeys("Tables", [
    { keys: "j k ArrowDown ArrowUp", does: "next, previous row; with Shift, several", run: toGrid },
    { keys: "ArrowRight ArrowLeft", does: "open, close the row", run: toGrid },
    { keys: "PageUp PageDown Home End", does: "scroll", run: toGrid },
    { keys: "Enter Space", does: "focus on the row in the flame graph" },
    ...(joins.value && by.value !== "module" && by.value !== "file"
      ? [{ keys: "w", does: "what retains what the row allocated", run: () => whyOfRow(selection.line?.row) }]
      : []),
    { keys: "m Shift+F10", does: "menu of the row", run: toGrid },
    { keys: "u", does: "undo the last change", run: () => history.back() },
    { keys: "Ctrl+c", does: "copy the selected rows" },
    { keys: "/", does: "find", run: () => field.current?.select() },
  ]);

  const focusOn = (line: Line<Row>): void => {
    const path = rows.path(line);
    if (path) go({ focus: focusForUrl(path), view: "flame" });
    else rows.toggle(line, !rows.isOpen(line));
  };
  const sortBy = (column: string): void => {
    const descending = sort.value === column ? direction.value !== "1" : column !== "name";
    const more = withParam(page.value.more, "sort", column === "total" ? "" : column);
    go({ more: withParam(more, "desc", descending ? "" : "0") });
  };
  const { line } = selection;
  useSourceOf(line?.row && sourceOf(line.row));

  return (
    <div class="tables" ref={root}>
      <div class="tables-tools">
        <Segmented label="rows" options={BY} value={by.value} onChoose={(id) => by.set(id)} />
        <FindBox field={field} find={find} />
        <span class="quiet" role="status">
          {rows.ready && `${grouped(rows.count)} ${rows.count === 1 ? "row" : "rows"}`}
        </span>
        <span class="grow" />
        {by.value !== "site" && (
          <span class="tables-below">
            <span class="quiet">open into</span>
            <Segmented
              label="rows open into"
              options={optionsBelow()}
              value={selectedBelow()}
              onChoose={(id) => below.set(id)}
            />
          </span>
        )}
        <button
          type="button"
          class="icon-button"
          title="Copy the table as text, tabs between columns"
          aria-label="Copy the table as text"
          onClick={() =>
            void rows.all(MAX_COPIED).then((all) => copyText(tabSeparated(all), grouped(all.length) + " rows"))
          }
        >
          <Icon name="copy" />
        </button>
      </div>
      {rows.error && !rows.ready ? (
        <ErrorMessage error={rows.error} />
      ) : rows.ready && rows.count === 0 ? (
        <Empty title={find.value ? `Nothing contains “${find.value}”` : "No block fits these filters"} />
      ) : (
        <Grid
          rows={rows}
          columns={rows.subject.baseline ? COMPARED : COLUMNS}
          sort={sort.value}
          descending={direction.value === "1"}
          looks={looksOf(BY.find(({ id }) => id === by.value)?.title ?? "")}
          selection={selection}
          onSort={sortBy}
          onFocus={focusOn}
          onMenu={(line, at) => {
            if (line.row) openMenu(line.row.label, menuOf(line.row, by.value as By, rows.path(line)), at);
          }}
          copied={() => tabSeparated(selection.selected())}
        />
      )}
      <RowActions line={line} by={by.value as By} path={line && rows.path(line)} focusOn={focusOn} />
    </div>
  );
}

/** What can be done to the call tree at a row; `path` is null for modules and files. */
function menuOf(row: Row, by: By, path: readonly string[] | null): MenuItem[][] {
  const kind = path === null ? by : row.key.startsWith(MODULE) ? "module" : isSite(row) ? "site" : "function";
  const functionName = kind === "site" ? row.label : kind === "function" ? row.key : "";
  const subtree = path ? () => go({ focus: focusForUrl(path), view: "flame" }) : undefined;
  return transformsOf(
    {
      name: row.label,
      key: row.key || null,
      kind,
      functionName: functionName || null,
      module: row.module || null,
      place: placeOf(row),
    },
    { subtree, path: path && path.length > 1 ? () => Promise.resolve(path) : undefined },
  );
}

function whyOfRow(row: Row | undefined): void {
  if (row && row.key !== "") showWhy(row.key, by.value === "function");
}

function looksOf(nameTitle: string): Looks<Row> {
  return {
    label: `${nameTitle} and what they allocated`,
    nameTitle,
    key: (row) => row.key,
    share: (row) => row.share,
    name: (row) => row.label,
    placeTitle: "Where",
    place: placeOf,
  };
}

/** The first is what rows open into where nothing was selected. */
function optionsBelow() {
  return by.value === "module" || by.value === "file" ? [FUNCTIONS, ...BELOW] : BELOW;
}

function selectedBelow(): Below {
  const options = optionsBelow();
  return (options.find(({ id }) => id === below.value) ?? options[0]!).id as Below;
}

/** The rows asked for; the ones before stay until the first new ones have come. */
function useRows(): Rows {
  const subject: Subject = {
    rec: rec.value,
    filter: filter.value,
    by: BY.some(({ id }) => id === by.value) ? (by.value as By) : "function",
    below: selectedBelow(),
    sort: sort.value,
    descending: direction.value === "1",
    find: find.value,
    baseline: selectedBaseline(),
  };
  const key = `${revision.value} ${JSON.stringify(subject)}`;
  const opened = useMemo<OpenRows>(() => new Set(), [subject.rec, subject.by, subject.below]);
  const wanted = useMemo(() => new Rows(subject, opened), [key, opened]);
  const shown = useRef(wanted);
  // Reading the signal draws again when the first rows are there.
  const ready = wanted.changes.value > 0;
  if (ready || !shown.current.ready) shown.current = wanted;
  useEffect(() => () => wanted.dispose(), [wanted]);
  return shown.current;
}

export const tablesView: View = {
  id: "tables",
  half: "allocations",
  title: "Tables",
  what: "Functions, call sites, modules and files, with their callers and callees",
  Component: Tables,
};
