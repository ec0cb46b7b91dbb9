/** Hash tables, maps, arrays and the like: whose they are, what is in them, and what is wasted. */
import type { View } from "../shell/registry.ts";
import type { Looks } from "../tables/Grid.tsx";
import { bytes, grouped } from "../text/units.ts";
import type { ContainerRow } from "../generated/responses.ts";
import { BlockActions } from "./block/BlockActions.tsx";
import { withHeld } from "./held.ts";
import { showWhoBelow } from "./join/links.ts";
import { openBlock, queryHeapOnce, snapshot, useHeapQuery } from "./state.ts";
import { counts, OUTSIDE, sizes, withOutside } from "./table/columns.ts";
import { HeapTable } from "./table/HeapTable.tsx";

const COLUMNS = [
  sizes<ContainerRow>("retained", "Retained", "what would be freed without it", 0, (row) => row.retained),
  counts<ContainerRow>("entries", "Entries", "entries or elements", 0, (row) => row.entries),
  sizes<ContainerRow>("keys", "Keys", "what the keys retain one by one", 2, (row) => row.keys?.retained ?? null, false),
  sizes<ContainerRow>(
    "values",
    "Values",
    "what the values or elements retain one by one",
    2,
    (row) => row.values?.retained ?? null,
    false,
  ),
  sizes<ContainerRow>(
    "wasted",
    "Wasted",
    "empty room, numbers in blocks of their own, strings that are there several times",
    1,
    (row) => row.wasted || null,
  ),
  sizes<ContainerRow>(
    OUTSIDE,
    "Off-heap",
    "off-heap bytes that go with what it retains",
    2,
    (row) => row.retained_external || null,
  ),
];

const LOOKS: Looks<ContainerRow> = {
  label: "Containers and what is in them",
  nameTitle: "Container",
  key: (row) => `${snapshot.value?.number} ${row.block}`,
  share: (row) => row.share,
  name: (row) => (row.path === "" ? row.type : `${row.type} in ${row.path}`),
  placeTitle: "Owner",
  place: (row) => row.position ?? withHeld(row.owner, row.owner_holds),
};

function Containers() {
  const { response } = useHeapQuery({ query: "heapcontainers", limit: 1 });
  return (
    <HeapTable
      id="containers"
      title="Containers"
      subject={String(snapshot.value?.number)}
      source={(order) => ({
        load: (_, offset, limit, signal) => queryHeapOnce({ query: "heapcontainers", ...order, offset, limit }, signal),
      })}
      columns={withOutside(COLUMNS, response?.rows.some((row) => row.retained_external > 0) ?? false)}
      looks={LOOKS}
      first="retained"
      nothing="No containers are recognised"
      open={(row) => openBlock(row.block)}
      opensWhat="the container's first block"
      across={(row) => showWhoBelow(`block:${row.block}`)}
      tools={
        response && (
          <span class="quiet clip">
            {grouped(response.containers)} containers
            {response.containers > response.count && `; the ${grouped(response.count)} that retain most:`}
          </span>
        )
      }
      actions={(row) => (
        <>
          <span class="clip quiet">{facts(row)}</span>
          <BlockActions row={row} />
        </>
      )}
    />
  );
}

/** How full it is, and what is wasted. */
function facts({ buckets, empty_buckets, longest_bucket, waste }: ContainerRow): string {
  const texts: string[] = [];
  if (buckets !== null) {
    texts.push(`${grouped(buckets)} buckets, ${grouped(empty_buckets ?? 0)} empty, ${longest_bucket} in the longest`);
  }
  const wasted: [number | null, string][] = [
    [waste.empty, "empty room"],
    [waste.boxed, "boxed numbers"],
    [waste.duplicates, "duplicate strings"],
  ];
  for (const [size, what] of wasted) if (size) texts.push(`${bytes(size)} ${what}`);
  return texts.join("; ");
}

export const containersView: View = {
  id: "containers",
  half: "heap",
  title: "Containers",
  what: "Hash tables, maps, arrays and the like, and what is wasted in them",
  Component: Containers,
};
