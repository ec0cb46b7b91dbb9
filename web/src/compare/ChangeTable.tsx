/** The difference as a table. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { queryOnce, useQuery } from "../engine/useQuery.ts";
import type { QueryResponse } from "../engine/slab.ts";
import type { ChangeRow, CompareTableResponse } from "../generated/responses.ts";
import { focusForUrl, labelOfKey } from "../flame/keys.ts";
import { siteLabel } from "../flame/label.ts";
import { useKeys } from "../shell/keys.ts";
import { go, page, param, withParam } from "../state/page.ts";
import { count, grouped } from "../text/units.ts";
import { Icon } from "../widgets/Icon.tsx";
import { copyText } from "../widgets/notice.ts";
import { Segmented } from "../widgets/Segmented.tsx";
import { Empty, ErrorMessage } from "../widgets/State.tsx";
import { amount, signed, changeText, type Scale } from "./change.ts";
import { markOfSides } from "./sides.ts";
import type { ComparedSides } from "./ChangeFlame.tsx";

type Change = ChangeRow & {
  before: number;
  after: number;
  blocksBefore: number;
  blocksAfter: number;
};

const by = param("by", "function");
const sort = param("csort", "delta");
const descending = param("cdesc", "1");
const find = param("find", "");

const BY = [
  { id: "function", title: "Functions" },
  { id: "site", title: "Call sites" },
  { id: "module", title: "Modules" },
  { id: "file", title: "Files" },
];
/** Enough to see what matters; "copy" takes all of it. */
const SHOWN = 500;
const MAX_COPIED = 10_000;

export function ChangeTable({ sides }: { sides: ComparedSides }) {
  const query = {
    query: "compare" as const,
    ...sides,
    view: "table",
    by: BY.some(({ id }) => id === by.value) ? by.value : "function",
    sort: sort.value,
    descending: descending.value === "1",
    find: find.value,
    offset: 0,
  };
  const { response, error, late } = useQuery<"compare", CompareTableResponse>({ ...query, limit: SHOWN });
  const changes = useMemo(() => (response ? changesOf(response) : []), [response]);
  const field = useRef<HTMLInputElement>(null);
  useKeys("Difference", [{ keys: "/", does: "find", run: () => field.current?.select() }]);
  const sortBy = (column: string): void => {
    const down = sort.value === column ? descending.value !== "1" : column !== "name";
    const more = withParam(page.value.more, "csort", column === "delta" ? "" : column);
    go({ more: withParam(more, "cdesc", down ? "" : "0") });
  };
  const copy = async (): Promise<void> => {
    const all = changesOf(await queryOnce<"compare", CompareTableResponse>({ ...query, limit: MAX_COPIED }));
    await copyText(tabSeparated(all), `${grouped(all.length)} rows`);
  };
  return (
    <div class={late ? "compare-table late" : "compare-table"}>
      <div class="tables-tools">
        <Segmented label="rows" options={BY} value={query.by} onChoose={(id) => by.set(id)} />
        <Find field={field} />
        <span class="quiet" role="status">
          {response && rowCount(response.count)}
        </span>
        <span class="grow" />
        <button
          type="button"
          class="icon-button"
          title="Copy the table as text, tabs between columns"
          aria-label="Copy the table as text"
          onClick={() => void copy()}
        >
          <Icon name="copy" />
        </button>
      </div>
      {error && !response ? (
        <ErrorMessage error={error} />
      ) : response && changes.length === 0 ? (
        <Empty title={find.value ? `Nothing contains “${find.value}”` : "Nothing was allocated on either side"} />
      ) : (
        <Body
          changes={changes}
          sortBy={sortBy}
          scale={sides.normalise}
          focusable={query.by === "function" || query.by === "site"}
        />
      )}
    </div>
  );
}

function rowCount(rows: number): string {
  return rows > SHOWN
    ? `the first ${SHOWN} of ${grouped(rows)} rows`
    : `${grouped(rows)} ${rows === 1 ? "row" : "rows"}`;
}

function changesOf({ rows, columns }: QueryResponse<CompareTableResponse>): Change[] {
  const column = (name: string) => columns.numbers(name);
  const [before, after] = [column("before"), column("after")];
  const [blocksBefore, blocksAfter] = [column("blocks_before"), column("blocks_after")];
  return rows.map((row, at) => ({
    ...row,
    before: before[at]!,
    after: after[at]!,
    blocksBefore: blocksBefore[at]!,
    blocksAfter: blocksAfter[at]!,
  }));
}

interface BodyProps {
  changes: readonly Change[];
  sortBy(column: string): void;
  scale: Scale;
  focusable: boolean;
}

function Body({ changes, sortBy, scale, focusable }: BodyProps) {
  const largest = changes.reduce((most, { before, after }) => Math.max(most, Math.abs(after - before)), 0);
  const head = (column: string, title: string, what: string) => (
    <th aria-sort={sort.value !== column ? "none" : descending.value === "1" ? "descending" : "ascending"}>
      <button type="button" title={what} onClick={() => sortBy(column)}>
        {title}
        {sort.value === column && <span aria-hidden="true">{descending.value === "1" ? " ▾" : " ▴"}</span>}
      </button>
    </th>
  );
  return (
    <div class="compare-rows">
      <table>
        <thead>
          <tr>
            {head("delta", "Difference", "how much more or less, largest first")}
            <th />
            <th />
            {head("before", "Before", "bytes before")}
            {head("after", "After", "bytes after")}
            <th class="spare">Blocks</th>
            {head("name", "Name", "name")}
          </tr>
        </thead>
        <tbody>
          {changes.map((change) => (
            <Row key={change.key} change={change} largest={largest} scale={scale} focusable={focusable} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({
  change,
  largest,
  scale,
  focusable,
}: {
  change: Change;
  largest: number;
  scale: Scale;
  focusable: boolean;
}) {
  const { before, after, status } = change;
  const share = largest > 0 ? Math.abs(after - before) / largest : 0;
  const more = after > before;
  return (
    <tr class={`change-${status}`}>
      <td class="number">{signed(after - before, scale)}</td>
      <td class="change-bar" aria-hidden="true">
        <span
          class={more ? "grown" : "shrunk"}
          style={more ? { left: "50%", width: `${share * 50}%` } : { right: "50%", width: `${share * 50}%` }}
        />
      </td>
      <td class="change-text">{changeText(status, before, after)}</td>
      <td class="number">{before > 0 ? amount(before, scale, markOfSides()) : "–"}</td>
      <td class="number">{after > 0 ? amount(after, scale, markOfSides()) : "–"}</td>
      <td class="number spare quiet">
        {scale === "none" &&
          `${markOfSides()}${count(change.blocksBefore)} → ${markOfSides()}${count(change.blocksAfter)}`}
      </td>
      <td class="change-name" title={change.label}>
        {focusable ? (
          <button
            type="button"
            class="clip"
            title="Focus on it in the difference's flame graph"
            onClick={() => go({ focus: focusForUrl([change.key]), more: withParam(page.value.more, "cmp", "") })}
          >
            {change.label || labelOfKey(change.key)}
          </button>
        ) : (
          <span class="clip">{change.label}</span>
        )}
        {change.file && (
          <span class="change-place quiet">
            {change.line === null ? change.file : siteLabel(change.file, change.line)}
          </span>
        )}
      </td>
    </tr>
  );
}

function Find({ field }: { field: { current: HTMLInputElement | null } }) {
  const [typed, setTyped] = useState(find.value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setTyped(find.value), [find.value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <input
      ref={field}
      class="field small"
      type="search"
      placeholder="Find"
      aria-label="Find rows by a part of their name"
      spellcheck={false}
      value={typed}
      onInput={(event) => {
        const text = event.currentTarget.value;
        setTyped(text);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => find.set(text, "replace"), 200);
      }}
    />
  );
}

function tabSeparated(changes: readonly Change[]): string {
  const cell = (text: string): string => text.replace(/[\t\r\n]+/g, " ");
  const lines = changes.map(({ label, status, before, after }) =>
    [cell(label), status, before, after, after - before].join("\t"),
  );
  return ["name\tstatus\tbefore\tafter\tdifference", ...lines].join("\n") + "\n";
}
