/** Which roots keep how much: module fields, stack slots, finalisers and the rest, by name. */
import type { View } from "../shell/registry.ts";
import { param } from "../state/page.ts";
import type { Looks } from "../tables/Grid.tsx";
import { bytes } from "../text/units.ts";
import type { RootFigures } from "../generated/responses.ts";
import { queryHeapOnce, openNode, snapshot, useHeapQuery } from "./state.ts";
import { counts, OUTSIDE, sizes, withOutside } from "./table/columns.ts";
import { HeapTable, type Order } from "./table/HeapTable.tsx";
import type { Source } from "./table/rows.ts";

const kind = param("roots-kind", "");

const COLUMNS = [
  sizes<RootFigures>("retained", "Retained", "what would be freed without it", 0, (row) => row.retained),
  sizes<RootFigures>("reachable", "Reachable", "all that can be reached from it", 1, (row) => row.reachable),
  sizes<RootFigures>("shared", "Shared", "of that, what is reachable from others, too", 1, (row) => row.shared),
  sizes<RootFigures>(
    OUTSIDE,
    "Off-heap",
    "off-heap bytes that go with what it retains",
    2,
    (row) => row.retained_external || null,
    false,
  ),
  counts<RootFigures>("below", "Parts", "roots directly under it", 2, (row) => row.below || null, false),
];

/** Kinds that keep next to nothing are left to the table. */
const MAX_ROOTS = 12;

function Roots() {
  const { response } = useHeapQuery({ query: "heaproots", min: 1, limit: 1 });
  const looks: Looks<RootFigures> = {
    label: "Roots and what they retain",
    nameTitle: "Root",
    key: (row) => `${row.kind} ${row.path.join("\n")}`,
    share: (row) => row.share,
    name: (row) => (row.type ? `${row.name ?? ""} : ${row.type}` : (row.name ?? "")),
    placeTitle: "In",
    place: (row) => [row.kind, ...row.path.slice(0, -1), ...(row.position ? [row.position] : [])].join(" › "),
  };
  const source = ({ sort, descending, find }: Order): Source<RootFigures> => ({
    load: (above, offset, limit, signal) =>
      queryHeapOnce(
        {
          query: "heaproots",
          min: 1,
          sort,
          descending,
          offset,
          limit,
          ...(above ? { under: above.node } : { find, ...(kind.value ? { kind: kind.value } : {}) }),
        },
        signal,
      ),
    opens: (row) => row.below > 0,
  });
  const kinds = (response?.kinds ?? [])
    .filter(({ retained }) => retained > 0)
    .sort((a, b) => b.retained - a.retained)
    .slice(0, MAX_ROOTS);
  return (
    <HeapTable
      id="roots"
      title="Roots"
      subject={`${snapshot.value?.number} ${kind.value}`}
      source={source}
      columns={withOutside(COLUMNS, response?.kinds.some((one) => one.retained_external > 0) ?? false)}
      looks={looks}
      first="retained"
      nothing="No root retains anything"
      open={(row) => openNode(row.node)}
      opensWhat="what the root retains; two selected with Shift: what they share"
      tools={
        <div class="conditions-row" role="group" aria-label="kinds of roots">
          {kinds.map((one) => (
            <button
              key={one.kind}
              type="button"
              class="kind-condition"
              aria-pressed={kind.value === one.kind}
              title={`${bytes(one.retained)} retained by ${one.labels} ${one.labels === 1 ? "root" : "roots"}`}
              onClick={() => kind.set(kind.value === one.kind ? "" : one.kind)}
            >
              {one.kind} <span class="quiet">{bytes(one.retained)}</span>
            </button>
          ))}
        </div>
      }
      actions={(row, selected) => (
        <>
          {selected.length === 2 && <Shared a={selected[0]!} b={selected[1]!} />}
          <button
            type="button"
            class="button small"
            title="Enter, or a double click"
            onClick={() => openNode(row.node)}
          >
            What it retains
          </button>
        </>
      )}
    />
  );
}

/** What two roots have to do with each other. */
function Shared({ a, b }: { a: RootFigures; b: RootFigures }) {
  const { response } = useHeapQuery({ query: "heapshared", a: a.node, b: b.node });
  if (!response) return null;
  return (
    <span class="clip" role="status">
      <strong>{a.name}</strong> and <strong>{b.name}</strong>{" "}
      {response.common > 0 ? `both reach ${bytes(response.common)}` : "reach nothing in common"}
    </span>
  );
}

export const rootsView: View = {
  id: "roots",
  half: "heap",
  title: "Roots",
  what: "What each root retains",
  Component: Roots,
};
