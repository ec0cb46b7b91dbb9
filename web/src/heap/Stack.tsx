/** The stacks of the program's threads, and for each frame what its slots retain. */
import type { View } from "../shell/registry.ts";
import type { Looks } from "../tables/Grid.tsx";
import { Empty, ErrorMessage } from "../widgets/State.tsx";
import type { StackRow } from "../generated/responses.ts";
import { openNode, snapshot, useHeapQuery } from "./state.ts";
import { sizes } from "./table/columns.ts";
import { HeapTable, type Order } from "./table/HeapTable.tsx";
import type { Source } from "./table/rows.ts";
import { sorted } from "./table/sorted.ts";

/** A row with those under it. */
interface Nested {
  row: StackRow;
  below: Nested[];
}

const COLUMNS = [
  sizes<Nested>("retained", "Retained", "what would be freed without its slots", 0, ({ row }) => row.retained),
  sizes<Nested>("reachable", "Reachable", "all that can be reached from its slots", 1, ({ row }) => row.reachable),
  sizes<Nested>("shared", "Shared", "of that, what is reachable from others, too", 1, ({ row }) => row.shared),
];

const FIRST = "order";
const ACCESSORS = {
  keys: {
    retained: ({ row }: Nested) => row.retained,
    reachable: ({ row }: Nested) => row.reachable,
    shared: ({ row }: Nested) => row.shared,
  },
  name: ({ row }: Nested) => row.name ?? "",
};

function Stack() {
  const { response, error } = useHeapQuery({ query: "heapstack" });
  if (error && !response) return <ErrorMessage error={error} />;
  if (!response) return null;
  if (response.rows.length === 0) return <Empty title="No stack retains anything" />;
  const nested = nest(response.rows);
  const looks: Looks<Nested> = {
    label: "Stacks and what their slots retain",
    nameTitle: "Frame",
    // Numbers of roots are those of one snapshot.
    key: ({ row }) => `${snapshot.value?.number} ${row.node}`,
    share: ({ row }) => row.share,
    name: ({ row }) => row.name ?? "",
    placeTitle: "",
    place: () => "",
  };
  const source = (order: Order): Source<Nested> => ({
    load: (above, offset, limit) => {
      const all = above?.below ?? nested;
      // The order of the stack is the first order.
      const rows = order.sort === FIRST ? all : sorted(all, order, ACCESSORS);
      return Promise.resolve({ rows: rows.slice(offset, offset + limit), count: rows.length });
    },
    opens: ({ below }) => below.length > 0,
    // Domains and threads are open, frames are not.
    startsOpen: ({ row, below }) => row.depth === 0 || below.some((inner) => inner.below.length > 0),
  });
  return (
    <HeapTable
      id="stack"
      title="Stack"
      subject={`${snapshot.value?.number} ${response.rows.length}`}
      source={source}
      columns={COLUMNS}
      looks={looks}
      first={FIRST}
      finds={false}
      nothing="No stack retains anything"
      open={({ row }) => openNode(row.node)}
      opensWhat="what the frame retains"
      tools={<span class="quiet">innermost frames first; a frame opens into its slots</span>}
      actions={({ row }) => (
        <button type="button" class="button small" title="Enter, or a double click" onClick={() => openNode(row.node)}>
          What it retains
        </button>
      )}
    />
  );
}

/** Rows in order, each deeper one under the last that is less deep. */
function nest(rows: readonly StackRow[]): Nested[] {
  const top: Nested[] = [];
  const open: Nested[] = [];
  for (const row of rows) {
    const one: Nested = { row, below: [] };
    while (open.length > 0 && open.at(-1)!.row.depth >= row.depth) open.pop();
    (open.at(-1)?.below ?? top).push(one);
    open.push(one);
  }
  return top;
}

export const stackView: View = {
  id: "stack",
  half: "heap",
  title: "Stack",
  what: "The backtrace, and what each frame retains",
  Component: Stack,
};
