/** Strings that are there several times; only snapshots with contents tell. */
import type { View } from "../shell/registry.ts";
import type { Looks } from "../tables/Grid.tsx";
import { bytes, count, grouped } from "../text/units.ts";
import { Empty, ErrorMessage } from "../widgets/State.tsx";
import type { StringRow } from "../generated/responses.ts";
import { queryHeapOnce, openBlock, snapshot, useHeapQuery } from "./state.ts";
import { counts, sizes } from "./table/columns.ts";
import { HeapTable } from "./table/HeapTable.tsx";

const COLUMNS = [
  sizes<StringRow>("wasted", "Wasted", "what all but one of them take up", 0, (row) => row.wasted),
  counts<StringRow>("times", "Times", "how often it is there", 0, (row) => row.times),
  counts<StringRow>("length", "Length", "bytes of one", 1, (row) => row.length),
];

function Strings() {
  const { response, error } = useHeapQuery({ query: "heapstrings", limit: 1 });
  if (error && !response) return <ErrorMessage error={error} />;
  if (!response) return null;
  const { strings } = response;
  if (!strings) {
    return (
      <Empty title="What strings hold is not here">
        <p>memtrail run --contents writes it down; memtrail html --contents puts it into the file.</p>
      </Empty>
    );
  }
  const looks: Looks<StringRow> = {
    label: "Strings that are there several times",
    nameTitle: "String",
    key: (row) => `${snapshot.value?.number} ${row.example}`,
    share: (row) => row.share,
    name: ({ start, cut }) => `"${start}"${cut ? " …" : ""}`,
    placeTitle: "",
    place: () => "",
  };
  return (
    <HeapTable
      id="strings"
      title="Strings"
      subject={String(snapshot.value?.number)}
      source={(order) => ({
        load: (_, offset, limit, signal) => queryHeapOnce({ query: "heapstrings", ...order, offset, limit }, signal),
      })}
      columns={COLUMNS}
      looks={looks}
      first="wasted"
      nothing="No string is there twice"
      open={(row) => openBlock(row.example)}
      opensWhat="one of the strings"
      tools={
        <span class="quiet" title={`headers counted; their contents alone are ${bytes(strings.contents)}`}>
          {count(strings.strings)} strings take up {bytes(strings.bytes)}, {bytes(strings.wasted)} of that in
          repetitions
          {strings.kept < strings.repeated &&
            `; the ${grouped(strings.kept)} most wasteful of ${grouped(strings.repeated)} repeated ones:`}
        </span>
      }
      actions={(row) => (
        <button
          type="button"
          class="button small"
          title="Enter, or a double click"
          onClick={() => openBlock(row.example)}
        >
          One of them
        </button>
      )}
    />
  );
}

export const stringsView: View = {
  id: "strings",
  half: "heap",
  title: "Strings",
  what: "Strings that are there several times",
  Component: Strings,
  applies: () => snapshot.value?.contents === true,
};
