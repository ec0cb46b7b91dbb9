/** What each root retains alone: module fields, stack slots, finalisers and the rest, nested. */
import type { ComponentChildren } from "preact";
import type { Looks } from "../../tables/Grid.tsx";
import type { RootFigures } from "../../generated/responses.ts";
import { WhoBelowButton } from "../join/Buttons.tsx";
import { showWhoBelow } from "../join/links.ts";
import { queryHeapOnce, useHeapQuery } from "../state.ts";
import { counts, OUTSIDE, sizes, withOutside } from "../table/columns.ts";
import { useColumnsWithBefore } from "../table/before.ts";
import type { Order } from "../table/HeapTable.tsx";
import type { Source } from "../table/rows.ts";
import { openJoint } from "./Joint.tsx";
import { RootTable, rootKind } from "./RootTable.tsx";

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
  const columns = useColumnsWithBefore(COLUMNS, ({ kind, stored_name, retained, is_joint }) => ({
    by: is_joint ? "joint" : "roots",
    kind,
    name: stored_name,
    bytes: retained,
  }));
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
          ...(above ? { under: above.node } : { find, ...(rootKind.value ? { kind: rootKind.value } : {}) }),
        },
        signal,
      ),
    opens: (row) => row.below > 0,
  });
  const kinds = (response?.kinds ?? []).map(({ kind, retained, labels }) => ({ kind, bytes: retained, roots: labels }));
  return (
    <RootTable
      switcher={switcher}
      kinds={kinds}
      does="retained"
      source={source}
      columns={withOutside(columns, response?.kinds.some((one) => one.retained_external > 0) ?? false)}
      looks={looks}
      nothing="No root retains anything"
      inside={(row) => row.node}
      across={(row) => showWhoBelow(row.node)}
      actions={(row) => (
        <>
          <WhoBelowButton node={row.node} />
          {row.is_joint && (
            <button type="button" class="button small plain" onClick={openJoint}>
              By whom, and what to cut
            </button>
          )}
        </>
      )}
    />
  );
}
