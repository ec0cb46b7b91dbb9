/** Every reachable byte once, by the root that owns it: the rows add up. */
import type { ComponentChildren } from "preact";
import type { Looks } from "../../tables/Grid.tsx";
import type { OwnerFigures } from "../../generated/responses.ts";
import { withHeld } from "../held.ts";
import { kindsOf } from "../Kinds.tsx";
import { WhoOwnedButton } from "../join/Buttons.tsx";
import { showWhoOwned } from "../join/links.ts";
import { queryHeapOnce, useHeapQuery } from "../state.ts";
import { OUTSIDE, sizes, withOutside } from "../table/columns.ts";
import { useColumnsWithBefore } from "../table/before.ts";
import type { Order } from "../table/HeapTable.tsx";
import type { Source } from "../table/rows.ts";
import { RootTable, rootKind } from "./RootTable.tsx";

const COLUMNS = [
  sizes<OwnerFigures>(
    "owned",
    "Owned",
    "what is attributed to it: all rows add up to what is reachable",
    0,
    (row) => row.owned,
  ),
  sizes<OwnerFigures>(
    "retained",
    "Retained",
    "what would be freed without it and its aliases; other roots reach the rest of what it owns",
    1,
    (row) => row.retained,
  ),
  sizes<OwnerFigures>(
    OUTSIDE,
    "Off-heap",
    "off-heap bytes that go with what it owns",
    2,
    (row) => row.owned_external || null,
  ),
];

/** What is in it: that of the block that it holds, which all its aliases hold, too. */
const nodeOf = ({ block, node }: OwnerFigures): string => (block === null ? node : `block:${block}`);

export function Owners({ switcher }: { switcher: ComponentChildren }) {
  const { response } = useHeapQuery({ query: "heapowners", limit: 1 });
  const columns = useColumnsWithBefore(COLUMNS, ({ kind, name, owned }) => ({
    by: "owners",
    kind,
    name,
    bytes: owned,
  }));
  const looks: Looks<OwnerFigures> = {
    label: "Roots and what they own",
    nameTitle: "Root",
    key: (row) => `${row.kind} ${row.node}`,
    share: (row) => row.share,
    name: ({ name, type, holds }) => (type ? `${name} : ${type}` : withHeld(name, holds)),
    placeTitle: "Where",
    place: ({ kind, position, aliases }) =>
      [position ?? kind, ...(aliases.length > 0 ? [`also ${aliases.join(", ")}`] : [])].join(" · "),
  };
  const source = ({ sort, descending, find }: Order): Source<OwnerFigures> => ({
    load: (_above, offset, limit, signal) =>
      queryHeapOnce(
        {
          query: "heapowners",
          sort,
          descending,
          offset,
          limit,
          find,
          ...(rootKind.value ? { kind: rootKind.value } : {}),
        },
        signal,
      ),
    opens: () => false,
  });
  const kinds = (response?.kinds ?? []).map(({ kind, owned, owners }) => ({ kind, bytes: owned, roots: owners }));
  return (
    <RootTable
      switcher={switcher}
      kinds={kinds}
      does="owned"
      source={source}
      columns={withOutside(columns, response?.rows.some((row) => row.owned_external > 0) ?? false)}
      looks={looks}
      nothing="No root owns anything"
      inside={nodeOf}
      across={(row) => showWhoOwned(row.node)}
      actions={(row) => (
        <>
          <WhoOwnedButton node={row.node} />
          <button
            type="button"
            class="button small plain"
            title="the blocks that it owns, by kind"
            onClick={() => kindsOf(row.node)}
          >
            Kinds of it
          </button>
        </>
      )}
    />
  );
}
