/** Two snapshots against each other: by kind of block, or by root. */
import type { ComponentChildren } from "preact";
import { useQuery } from "../../engine/useQuery.ts";
import { go, page, param, rec, withParam } from "../../state/page.ts";
import type { Column } from "../../tables/columns.ts";
import type { Looks } from "../../tables/Grid.tsx";
import { bytes, count } from "../../text/units.ts";
import { Segmented } from "../../widgets/Segmented.tsx";
import { ErrorMessage } from "../../widgets/State.tsx";
import type { HeapChange } from "../../generated/responses.ts";
import { withHeld } from "../held.ts";
import { pathsTo } from "../Kinds.tsx";
import { chooseBoth, chooseSnapshot, included } from "../state.ts";
import { OUTSIDE, signed, sizes, withOutside } from "../table/columns.ts";
import { HeapTable } from "../table/HeapTable.tsx";
import { given } from "../table/rows.ts";
import { sorted } from "../table/sorted.ts";
import { chooseBefore, chooseRecordingBefore, useBefore, withSnapshots } from "./before.ts";
import { SnapshotSelect } from "./SnapshotSelect.tsx";

const of = param("of", "kinds");
const MAX_ROWS = 2000;

const OF = [
  { id: "owners", title: "Owners", what: "by root, what is attributed to it" },
  { id: "kinds", title: "Kinds", what: "by kind of block, its own size" },
  { id: "roots", title: "Roots", what: "by root, what it retains" },
];

/** Bytes before and after, off-heap memory included. */
const before = ({ bytes, external }: Pick<HeapChange, "bytes" | "external">): number => bytes[0] + external[0];
const after = ({ bytes, external }: Pick<HeapChange, "bytes" | "external">): number => bytes[1] + external[1];
const change = (row: HeapChange): number => after(row) - before(row);
const more = ({ blocks }: HeapChange): number | null => blocks && blocks[1] - blocks[0];

const COLUMNS: readonly Column<HeapChange>[] = [
  {
    sort: "change",
    title: "Change",
    what: "bytes more or less",
    spare: 0,
    text: (row: HeapChange) => signed(change(row)),
    plain: (row: HeapChange) => String(change(row)),
  },
  sizes<HeapChange>("before", "Before", "bytes in the first snapshot, off-heap memory included", 1, before),
  sizes<HeapChange>("after", "After", "bytes in the second snapshot, off-heap memory included", 1, after),
  sizes<HeapChange>(OUTSIDE, "Off-heap", "off-heap bytes in the second snapshot", 2, (row) => row.external[1]),
  {
    sort: "blocks",
    title: "Blocks",
    what: "blocks more or less",
    spare: 2,
    text: (row: HeapChange) => {
      const blocks = more(row);
      return blocks === null ? "" : `${blocks > 0 ? "+" : blocks < 0 ? "−" : ""}${count(Math.abs(blocks))}`;
    },
    plain: (row: HeapChange) => String(more(row) ?? ""),
  },
];

export function Differences({ switcher }: { switcher: ComponentChildren }) {
  const compared = useBefore();
  const {
    response,
    error,
    of: requested,
  } = useQuery(
    compared && {
      query: "heapdiff",
      rec: compared.rec,
      a: compared.snapshot.number,
      rec_b: rec.value,
      b: compared.after.number,
      limit: MAX_ROWS,
    },
    "h",
  );
  const by = of.value === "owners" || of.value === "roots" ? of.value : "kinds";
  const roots = by !== "kinds";
  if (error) return <ErrorMessage error={error} />;
  if (!response || !compared) return null;
  const { snapshot: a, after: b } = compared;
  const isOwn = compared.rec === rec.value;
  const totals = [before(response), after(response)] as const;
  const rows = response[by];
  const unknown = response.unknown[by];
  const looks: Looks<HeapChange> = {
    label: "What changed between two snapshots",
    nameTitle: roots ? "Root" : "Kind of block",
    key: (row) => `${row.kind ?? ""} ${row.name}`,
    share: (row) => row.share_with_external,
    bar: (row) => (change(row) < 0 ? "shrunk" : "grown"),
    name: ({ name, holds }) => withHeld(name, holds),
    placeTitle: "",
    // What is not among the largest may be there.
    place: (row) => (before(row) === 0 && !unknown[0] ? "new" : after(row) === 0 && !unknown[1] ? "gone" : ""),
  };
  return (
    <HeapTable
      id="changes"
      title="Changes"
      subject={`${requested} ${of.value}`}
      source={(order) => given(sorted(rows, order, ACCESSORS))}
      columns={withOutside(
        COLUMNS,
        rows.some(({ external }) => external[1] > 0),
      )}
      looks={looks}
      first="change"
      nothing="Nothing changed"
      open={roots ? showRoot : (row) => pathsTo(row.name)}
      opensWhat={roots ? "the root in the table of roots" : "the paths to blocks of the kind"}
      tools={
        <>
          {switcher}
          <Segmented label="rows" options={OF} value={by} onChoose={(id) => of.set(id)} />
          <RecordingBefore value={compared.rec} />
          <SnapshotSelect
            label="before"
            from={compared.others}
            value={a}
            onChoose={(number) => (isOwn ? chooseBoth(number, b.number) : chooseBefore(number))}
          />
          <span class="quiet">→</span>
          <SnapshotSelect
            label="after"
            from={included.value}
            value={b}
            onChoose={(number) => (isOwn ? chooseBoth(a.number, number) : chooseSnapshot(number))}
          />
          <strong class={totals[1] > totals[0] ? "grown" : "shrunk"}>{signed(totals[1] - totals[0])}</strong>
          <span class="quiet">
            {bytes(totals[0])} → {bytes(totals[1])}
          </span>
        </>
      }
      actions={(row) =>
        !roots && (
          <button type="button" class="button small" title="Enter, or a double click" onClick={() => pathsTo(row.name)}>
            Paths to them now
          </button>
        )
      }
    />
  );
}

/** Of which recording the snapshot before is, where there are several. */
function RecordingBefore({ value }: { value: number }) {
  const recordings = withSnapshots();
  if (recordings.length < 2) return null;
  return (
    <select
      class="field small"
      aria-label="recording before"
      value={String(value)}
      onChange={(event) => chooseRecordingBefore(Number(event.currentTarget.value))}
    >
      {recordings.map(({ rec, name }) => (
        <option key={rec} value={String(rec)}>
          {name}
        </option>
      ))}
    </select>
  );
}

function showRoot(row: HeapChange): void {
  const name = row.name.split(" / ").at(-1) ?? row.name;
  go({ view: "roots", more: withParam(page.value.more, "roots-find", name) });
}

const ACCESSORS = {
  keys: {
    change,
    before,
    after,
    external: ({ external }: HeapChange) => external[1],
    blocks: (row: HeapChange) => more(row) ?? 0,
  },
  name: ({ name }: HeapChange) => name,
};
