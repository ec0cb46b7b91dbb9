/** A list of blocks that can be queried: by kind, type, size, owner, age, and by what they retain. */
import type { BlockRow } from "../../generated/responses.ts";
import type { View } from "../../shell/registry.ts";
import { recording } from "../../state/about.ts";
import { param } from "../../state/page.ts";
import type { Column } from "../../tables/columns.ts";
import type { Looks } from "../../tables/Grid.tsx";
import { bytes, count, grouped, seconds } from "../../text/units.ts";
import { ErrorMessage } from "../../widgets/State.tsx";
import { TypedField } from "../../widgets/TypedField.tsx";
import { BlockActions } from "../block/BlockActions.tsx";
import { showWhoBelow } from "../join/links.ts";
import { openBlock, queryHeapOnce, snapshot, useHeapQuery } from "../state.ts";
import { OUTSIDE, sizes, withOutside } from "../table/columns.ts";
import { HeapTable, type Order } from "../table/HeapTable.tsx";
import type { Source } from "../table/rows.ts";

const filter = param("blocks", "");

const SIZES = [
  sizes<BlockRow>("retained", "Retained", "what would be freed without it", 0, (row) => row.retained),
  sizes<BlockRow>("size", "Size", "its own size, header counted", 0, (row) => row.size),
  sizes<BlockRow>(OUTSIDE, "Off-heap", "off-heap bytes that go with it", 2, (row) => row.external || null, false),
];
const AGE: Column<BlockRow> = {
  sort: "age",
  title: "Age",
  what: "time from its allocation to the snapshot, if it was sampled",
  spare: 1,
  text: ({ age }) => (age === null ? "" : seconds(age)),
  plain: ({ age }) => (age === null ? "" : String(age)),
};
const NUMBER: Column<BlockRow> = {
  sort: "block",
  title: "Block",
  what: "its number in the snapshot",
  spare: 2,
  text: ({ block }) => grouped(block),
  plain: ({ block }) => String(block),
};

const LOOKS: Looks<BlockRow> = {
  label: "Blocks",
  nameTitle: "Kind of block",
  key: (row) => `${snapshot.value?.number} ${row.block}`,
  share: (row) => row.share,
  name: (row) => row.kind,
  placeTitle: "Owner",
  place: (row) => row.owner ?? "",
};

function Blocks() {
  const { response, error } = useHeapQuery({ query: "heapblocks", filter: filter.value, limit: 1 });
  const aged = recording.value?.trace !== false;
  const source = ({ sort, descending }: Order): Source<BlockRow> => ({
    load: async (_, offset, limit, signal) => {
      const { rows, listed } = await queryHeapOnce(
        { query: "heapblocks", filter: filter.value, sort, descending, offset, limit },
        signal,
      );
      return { rows, count: listed };
    },
  });
  if (error) {
    return (
      <div class="tables">
        <div class="tables-tools">
          <FilterField />
        </div>
        <ErrorMessage error={error} />
      </div>
    );
  }
  return (
    <HeapTable
      id="list"
      title="Blocks"
      subject={`${snapshot.value?.number} ${filter.value}`}
      source={source}
      columns={withOutside(
        [...SIZES, ...(aged ? [AGE] : []), NUMBER],
        response?.rows.some((row) => row.external > 0) ?? false,
      )}
      looks={LOOKS}
      first="retained"
      finds={false}
      nothing="No block fits these conditions"
      open={(row) => openBlock(row.block)}
      opensWhat="the block"
      across={(row) => showWhoBelow(`block:${row.block}`)}
      tools={
        <>
          <FilterField />
          {response && (
            <span class="quiet clip">
              {count(response.count)} of {count(response.of)} blocks, {bytes(response.size)}
              {response.count > response.listed && `; the first ${grouped(response.listed)}:`}
            </span>
          )}
        </>
      }
      actions={(row) => <BlockActions row={row} />}
    />
  );
}

/** Where conditions are written: they count with Enter, or when the field is left. */
function FilterField() {
  return (
    <TypedField
      text={filter}
      waits
      class="field small blocks-filter"
      placeholder="kind:string size:>1k age:>10s"
      aria-label="Conditions on blocks"
      title="kind, type, owner: name, ~part or /expression/; size, retained, age: >1M, 1K..2K; - before a condition excludes"
    />
  );
}

export const blocksView: View = {
  id: "blocks",
  half: "heap",
  title: "Blocks",
  what: "A list of blocks, by kind, type, size, owner, age and what they retain",
  Component: Blocks,
};
