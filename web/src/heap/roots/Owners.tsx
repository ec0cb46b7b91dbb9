/** Every reachable byte once, by the root that owns it: the rows add up. */
import type { ComponentChildren } from "preact";
import { param } from "../../state/page.ts";
import type { Looks } from "../../tables/Grid.tsx";
import type { OwnerFigures } from "../../generated/responses.ts";
import { openNode, queryHeapOnce, snapshot, useHeapQuery } from "../state.ts";
import { OUTSIDE, sizes, withOutside } from "../table/columns.ts";
import { HeapTable, type Order } from "../table/HeapTable.tsx";
import type { Source } from "../table/rows.ts";
import { RootKinds } from "./RootKinds.tsx";
import { Shared } from "./Shared.tsx";

const kind = param("roots-kind", "");

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
  const looks: Looks<OwnerFigures> = {
    label: "Roots and what they own",
    nameTitle: "Root",
    key: (row) => `${row.kind} ${row.node}`,
    share: (row) => row.share,
    name: (row) => (row.type ? `${row.name} : ${row.type}` : row.name),
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
          ...(kind.value ? { kind: kind.value } : {}),
        },
        signal,
      ),
    opens: () => false,
  });
  const kinds = (response?.kinds ?? []).map(({ kind, owned, owners }) => ({ kind, bytes: owned, roots: owners }));
  return (
    <HeapTable
      id="roots"
      title="Roots"
      subject={`${snapshot.value?.number} ${kind.value}`}
      source={source}
      columns={withOutside(COLUMNS, response?.rows.some((row) => row.owned_external > 0) ?? false)}
      looks={looks}
      first="owned"
      nothing="No root owns anything"
      open={(row) => openNode(nodeOf(row))}
      opensWhat="what it retains; two selected with Shift: what they share"
      tools={
        <>
          {switcher}
          <RootKinds kinds={kinds} selected={kind} does="owned" />
        </>
      }
      actions={(row, selected) => (
        <>
          {selected.length === 2 && <Shared a={selected[0]!} b={selected[1]!} />}
          <button
            type="button"
            class="button small"
            title="Enter, or a double click"
            onClick={() => openNode(nodeOf(row))}
          >
            What it retains
          </button>
        </>
      )}
    />
  );
}
