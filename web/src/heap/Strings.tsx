/** Strings that are there several times; only snapshots with contents tell. */
import type { View } from "../shell/registry.ts";
import type { Looks } from "../tables/Grid.tsx";
import { bytes, count, ratio } from "../text/units.ts";
import { Empty, Refusal } from "../widgets/State.tsx";
import type { Duplicate, StringsAnswer } from "./answers.ts";
import { openBlock, snapshot, useHeapAsk } from "./state.ts";
import { counts, sizes } from "./table/columns.ts";
import { HeapTable } from "./table/HeapTable.tsx";
import { given } from "./table/rows.ts";
import { sorted } from "./table/sorted.ts";

const MOST = 1000;

const COLUMNS = [
  sizes<Duplicate>("wasted", "Wasted", "what all but one of them take up", 0, (row) => row.wasted),
  counts<Duplicate>("times", "Times", "how often it is there", 0, (row) => row.times),
  counts<Duplicate>("length", "Length", "bytes of one", 1, (row) => row.length),
];

function Strings() {
  const { answer, error } = useHeapAsk<StringsAnswer>({ ask: "heapstrings", limit: MOST });
  if (error && !answer) return <Refusal error={error} />;
  if (!answer) return null;
  const { strings } = answer;
  if (!strings) {
    return (
      <Empty title="This snapshot was taken without contents">
        <p>memtrail run --contents writes strings down, too.</p>
      </Empty>
    );
  }
  const looks: Looks<Duplicate> = {
    label: "Strings that are there several times",
    nameTitle: "String",
    share: (row) => ratio(row.wasted, strings.bytes),
    name: (row) => quoted(row),
    placeTitle: "",
    place: () => "",
  };
  return (
    <HeapTable
      id="strings"
      title="Strings"
      subject={String(snapshot.value?.number)}
      source={(order) => given(sorted(strings.duplicates, order, WAYS))}
      columns={COLUMNS}
      looks={looks}
      first="wasted"
      nothing="No string is there twice"
      open={(row) => openBlock(row.example)}
      opensWhat="one of the strings"
      tools={
        <span class="quiet">
          {count(strings.strings)} strings, {bytes(strings.bytes)}; {bytes(strings.wasted)} in repetitions
        </span>
      }
      actions={(row) => (
        <button type="button" class="button small" title="Enter, or a double click" onClick={() => openBlock(row.example)}>
          One of them
        </button>
      )}
    />
  );
}

/** As OCaml would write it, with what is cut away marked. */
function quoted({ start, length }: Duplicate): string {
  const cut = new TextEncoder().encode(start).length < length;
  return JSON.stringify(start) + (cut ? " …" : "");
}

const WAYS = {
  keys: {
    wasted: (row: Duplicate) => row.wasted,
    times: (row: Duplicate) => row.times,
    length: (row: Duplicate) => row.length,
  },
  name: ({ start }: Duplicate) => start,
};

export const stringsView: View = {
  id: "strings",
  half: "heap",
  title: "Strings",
  what: "Strings that are there several times",
  Component: Strings,
  applies: () => snapshot.value?.contents === true,
};
