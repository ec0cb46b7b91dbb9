/** What several roots retain jointly: shares, the blocks of each, and the references to cut to free one. */
import type { ComponentChildren } from "preact";
import type { JointRow } from "../../generated/responses.ts";
import { go, page, withParam } from "../../state/page.ts";
import type { Looks } from "../../tables/Grid.tsx";
import { allocatedBy } from "../allocatedBy.ts";
import { openBlock, openNode, queryHeapOnce, snapshot, useHeapQuery } from "../state.ts";
import { OUTSIDE, sizes, withOutside } from "../table/columns.ts";
import { useColumnsWithBefore } from "../table/before.ts";
import { HeapTable } from "../table/HeapTable.tsx";
import type { Source } from "../table/rows.ts";

const COLUMNS = [
  sizes<JointRow>(
    "retained",
    "Retained",
    "what would be freed if none of the roots had it",
    0,
    (row) => row.retained,
    false,
  ),
  sizes<JointRow>(
    OUTSIDE,
    "Off-heap",
    "off-heap bytes that go with it",
    2,
    (row) => row.retained_external || null,
    false,
  ),
];

const LOOKS: Looks<JointRow> = {
  label: "What several roots retain jointly",
  nameTitle: "Share, block, or reference to cut",
  nameSorts: false,
  key: (row) => `${row.what} ${row.node} ${row.name}`,
  share: (row) => row.share,
  // Who reaches a block is what the row is for: it has the wide column.
  name: (row) => (row.what === "block" ? `${row.name}: ${row.place}` : row.name),
  placeTitle: "Of",
  place: (row) => (row.what === "block" ? (row.allocated ? allocatedBy(row.allocated) : "") : row.place),
};

export function Joint({ switcher }: { switcher: ComponentChildren }) {
  const { response } = useHeapQuery({ query: "heapjoint", offset: 0, limit: 100 });
  // Blocks and references have no names that another snapshot has.
  const columns = useColumnsWithBefore(COLUMNS, ({ kind, stored_name, retained }) =>
    stored_name === null ? null : { by: "joint", kind, name: stored_name, bytes: retained },
  );
  const source = (): Source<JointRow> => ({
    load: (above, offset, limit, signal) =>
      queryHeapOnce({ query: "heapjoint", offset, limit, ...(above ? { under: above.node } : {}) }, signal),
    opens: (row) => row.opens,
    startsOpen: (row) => row.what === "share",
  });
  return (
    <HeapTable
      id="joint"
      title="Roots"
      subject={String(snapshot.value?.number)}
      source={source}
      columns={withOutside(columns, response?.rows.some((row) => row.retained_external > 0) ?? false)}
      looks={LOOKS}
      first="retained"
      finds={false}
      nothing="No share of 1 % or more is retained jointly"
      open={open}
      opensWhat="the block, or what the root retains"
      tools={switcher}
      actions={(row) =>
        row.node !== "" && (
          <button type="button" class="button small" title="Enter, or a double click" onClick={() => open(row)}>
            {row.block === null ? "What it retains" : "The block"}
          </button>
        )
      }
    />
  );
}

/** Shows what several roots retain jointly. */
export function openJoint(): void {
  go({ more: withParam(page.value.more, "roots-by", "joint") });
}

function open(row: JointRow): void {
  if (row.block !== null) openBlock(row.block);
  else if (row.node !== "") openNode(row.node);
}
