/** How much there is of each kind of block. */
import type { View } from "../shell/registry.ts";
import { go, page, param, withParam } from "../state/page.ts";
import type { Looks } from "../tables/Grid.tsx";
import { blocks, bytes, count } from "../text/units.ts";
import type { HistogramRow } from "../generated/responses.ts";
import { WhoNamedButton } from "./join/Buttons.tsx";
import { showWhoNamed } from "./join/links.ts";
import { allocatedBy } from "./allocatedBy.ts";
import { howKnown } from "./derivations.ts";
import type { NodeId } from "./node.ts";
import { queryHeapOnce, openBlock, openNode, snapshot, useHeapQuery } from "./state.ts";
import { counts, OUTSIDE, sizes, withOutside } from "./table/columns.ts";
import { useColumnsWithBefore } from "./table/before.ts";
import { HeapTable, type Order } from "./table/HeapTable.tsx";
import type { Source } from "./table/rows.ts";

const COLUMNS = [
  sizes<HistogramRow>("bytes", "Size", "of the blocks themselves, headers counted", 0, (row) => row.bytes),
  counts<HistogramRow>("blocks", "Blocks", "live blocks", 0, (row) => row.blocks),
  sizes<HistogramRow>("retained", "Retained", "what they retain, their own size included", 1, (row) => row.retained),
  sizes<HistogramRow>(OUTSIDE, "Off-heap", "off-heap bytes that go with them", 2, (row) => row.external || null),
];

/** The root whose blocks are counted; all blocks, if empty. */
const owner = param("owner", "");

function Kinds() {
  const of = owner.value === "" ? {} : { owner: owner.value };
  const { response } = useHeapQuery({ query: "heaphistogram", by: "kind", limit: 1, ...of });
  const all = useColumnsWithBefore(COLUMNS, ({ kind, bytes }) => ({ by: "kinds", kind: null, name: kind, bytes }));
  const columns = owner.value === "" ? all : COLUMNS;
  const looks: Looks<HistogramRow> = {
    label: "Kinds of blocks and how much there is of them",
    nameTitle: "Kind of block",
    key: (row) => row.kind,
    share: (row) => row.share,
    name: (row) => row.kind,
    nameTooltip: (row) => [row.kind, howKnown(row)].filter((text) => text !== "").join("\n"),
    placeTitle: "Allocated by",
    place: (row) => (row.allocated?.[0] ? `${count(row.allocated[0].blocks)} ${allocatedBy(row.allocated[0])}` : ""),
  };
  const source = (order: Order): Source<HistogramRow> => ({
    load: (_, offset, limit, signal) =>
      queryHeapOnce({ query: "heaphistogram", by: "kind", ...of, ...order, offset, limit }, signal),
  });
  return (
    <HeapTable
      id="kinds"
      title="Kinds"
      subject={`${snapshot.value?.number} ${owner.value}`}
      source={source}
      columns={withOutside(columns, (response?.external ?? 0) > 0)}
      looks={looks}
      first="bytes"
      nothing="Nothing is alive"
      open={(row) => pathsTo(row.kind)}
      opensWhat="the paths to blocks of the kind"
      tools={
        response && owner.value !== "" ? (
          <>
            <OwnerCondition />
            <span class="quiet clip">
              {blocks(response.blocks)}, {bytes(response.bytes)}
            </span>
          </>
        ) : (
          response && (
            <span class="quiet clip">
              {blocks(response.blocks)}, {bytes(response.bytes)} alive
              {response.unreachable_bytes === null && "; unknown how much is dead, not yet swept"}
              {!!response.unreachable_bytes && `; ${bytes(response.unreachable_bytes)} dead, not yet swept`}
            </span>
          )
        )
      }
      across={(row) => showWhoNamed(row.kind)}
      actions={(row) => (
        <>
          <button type="button" class="button small" title="Enter, or a double click" onClick={() => pathsTo(row.kind)}>
            Paths to them
          </button>
          <WhoNamedButton name={row.kind} />
          {row.most !== null && (
            <button
              type="button"
              class="button small plain"
              title={`${bytes(row.most.bytes)} in ${blocks(row.most.blocks)} hang from one place`}
              onClick={() => openNode(row.most!.node)}
            >
              Where most are
            </button>
          )}
          {row.example !== null && (
            <button
              type="button"
              class="button small plain"
              title="the one there that retains most"
              onClick={() => openBlock(row.example!)}
            >
              One of those
            </button>
          )}
          {howKnown(row) !== "" && <span class="quiet clip how-known">{howKnown(row)}</span>}
        </>
      )}
    />
  );
}

/** Says whose blocks are counted, and takes that back. */
function OwnerCondition() {
  const { response } = useHeapQuery({ query: "heapchildren", node: owner.value, offset: 0, limit: 1 });
  const name = [...(response?.path ?? []).slice(2), ...(response ? [response.node] : [])].map((node) => node.name);
  return (
    <button
      type="button"
      class="kind-condition"
      aria-pressed
      title="Count all blocks again"
      onClick={() => owner.set("")}
    >
      owned by {name.join(" › ") || "a root"} ×
    </button>
  );
}

/** The blocks that a root owns, by kind. */
export function kindsOf(node: NodeId): void {
  go({ view: "kinds", more: withParam(page.value.more, "owner", node) });
}

/** The merged paths from the roots to the blocks of a kind. */
export function pathsTo(kind: string): void {
  go({ view: "paths", more: withParam(withParam(page.value.more, "to", kind), "node", "") });
}

export const kindsView: View = {
  id: "kinds",
  half: "heap",
  title: "Kinds",
  what: "How much there is of each kind of block",
  Component: Kinds,
};
