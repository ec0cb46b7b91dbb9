/** What each root retains alone: module fields, stack slots, finalisers and the rest, nested. */
import type { ComponentChildren } from "preact";
import { param } from "../../state/page.ts";
import type { Looks } from "../../tables/Grid.tsx";
import type { RootFigures } from "../../generated/responses.ts";
import { openNode, queryHeapOnce, snapshot, useHeapQuery } from "../state.ts";
import { counts, OUTSIDE, sizes, withOutside } from "../table/columns.ts";
import { HeapTable, type Order } from "../table/HeapTable.tsx";
import type { Source } from "../table/rows.ts";
import { RootKinds } from "./RootKinds.tsx";
import { Shared } from "./Shared.tsx";

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

export function Retained({ switcher }: { switcher: ComponentChildren }) {
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
  const kinds = (response?.kinds ?? []).map(({ kind, retained, labels }) => ({ kind, bytes: retained, roots: labels }));
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
        <>
          {switcher}
          <RootKinds kinds={kinds} selected={kind} does="retained" />
        </>
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
