/** Only what grew from snapshot to snapshot, brief dips aside: what leaks does. */
import type { ComponentChildren } from "preact";
import { useQuery } from "../../engine/useQuery.ts";
import { go, page, rec, withParam } from "../../state/page.ts";
import type { Column } from "../../tables/columns.ts";
import type { Looks } from "../../tables/Grid.tsx";
import { ErrorMessage } from "../../widgets/State.tsx";
import type { GrowthRow } from "../../generated/responses.ts";
import { withHeld } from "../held.ts";
import { pathsTo } from "../Kinds.tsx";
import { base, baseIsSelected, heapRevision, snapshot, snapshots } from "../state.ts";
import { OUTSIDE, signed, sizes, withOutside } from "../table/columns.ts";
import { HeapTable } from "../table/HeapTable.tsx";
import { given } from "../table/rows.ts";
import { sorted } from "../table/sorted.ts";
import { Sparkline } from "./Sparkline.tsx";

/** Bytes in each snapshot, off-heap memory included. */
const all = ({ bytes, external }: GrowthRow): number[] => bytes.map((size, at) => size + (external[at] ?? 0));
const first = (row: GrowthRow): number => all(row)[0] ?? 0;
const last = (row: GrowthRow): number => all(row).at(-1) ?? 0;
const external = ({ external }: GrowthRow): number => external.at(-1) ?? 0;
const grown = (row: GrowthRow): number => row.grown;

const COLUMNS: readonly Column<GrowthRow>[] = [
  {
    sort: "grown",
    title: "Grown by",
    what: "bytes: the median of the last quarter of the snapshots, less that of the first",
    spare: 0,
    text: (row: GrowthRow) => signed(grown(row)),
    plain: (row: GrowthRow) => String(grown(row)),
  },
  sizes<GrowthRow>("first", "First", "bytes in the first snapshot, off-heap memory included", 1, first),
  sizes<GrowthRow>("last", "Last", "bytes in the last snapshot, off-heap memory included", 1, last),
  sizes<GrowthRow>(OUTSIDE, "Off-heap", "off-heap bytes in the last snapshot", 2, external),
];

export function Grown({ switcher }: { switcher: ComponentChildren }) {
  const from = baseIsSelected.value && base.value ? base.value.number : snapshots.value[0]?.number;
  const to = snapshot.value?.number;
  const { response, error, of } = useQuery({ query: "heapgrowth", rec: rec.value, from, to }, `s${heapRevision.value}`);
  if (error && !response) return <ErrorMessage error={error} />;
  if (!response) return null;
  const looks: Looks<GrowthRow> = {
    label: "What grew from snapshot to snapshot",
    nameTitle: "Kind of block, or root",
    key: (row) => `${row.kind ?? ""} ${row.name}`,
    share: (row) => row.share_with_external,
    bar: () => "grown",
    name: ({ name, holds }) => withHeld(name, holds),
    nameNode: (row) => (
      <>
        <Sparkline values={all(row)} /> {withHeld(row.name, row.holds)}
      </>
    ),
    placeTitle: "",
    place: (row) => (row.is_root ? (row.kind ?? "root") : "kind of block"),
  };
  return (
    <HeapTable
      id="growth"
      title="Growth"
      subject={`${of} ${response.ready} ${response.rows.length}`}
      source={(order) => given(sorted(response.rows, order, ACCESSORS))}
      columns={withOutside(
        COLUMNS,
        response.rows.some((row) => external(row) > 0),
      )}
      looks={looks}
      first="grown"
      nothing="Nothing grew every time"
      open={show}
      opensWhat="the paths to them, or the root"
      tools={
        <>
          {switcher}
          <span class="quiet">
            grew in each of {response.snapshots.length} snapshots
            {response.snapshots.length > 0 && `, from ${response.snapshots[0]} to ${response.snapshots.at(-1)}`}
            {response.ready + response.failed < response.of && ` (${response.ready} of ${response.of} analysed)`}
            {response.failed > 0 && `; ${response.failed} cannot be read`}
          </span>
        </>
      }
      actions={(row) => (
        <button type="button" class="button small" title="Enter, or a double click" onClick={() => show(row)}>
          {row.is_root ? "The root" : "Paths to them now"}
        </button>
      )}
    />
  );
}

function show(row: GrowthRow): void {
  if (!row.is_root) pathsTo(row.name);
  else go({ view: "roots", more: withParam(page.value.more, "roots-find", row.name.split(" / ").at(-1) ?? "") });
}

const ACCESSORS = {
  keys: { grown, first, last, external },
  name: ({ name }: GrowthRow) => name,
};
