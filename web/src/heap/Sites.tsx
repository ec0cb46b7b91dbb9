/** Where the blocks were allocated that are alive in the snapshot, how much they are, and what they retain. */
import { focusForUrl } from "../flame/keys.ts";
import type { View } from "../shell/registry.ts";
import { recording } from "../state/about.ts";
import { markOf } from "../state/estimates.ts";
import { go, param } from "../state/page.ts";
import type { Looks } from "../tables/Grid.tsx";
import { blocks } from "../text/units.ts";
import { Segmented } from "../widgets/Segmented.tsx";
import { Empty, ErrorMessage } from "../widgets/State.tsx";
import type { SiteRow } from "../generated/responses.ts";
import { WhyButton } from "./join/Buttons.tsx";
import { showWhy } from "./join/links.ts";
import { openBlock, snapshot, useHeapQuery } from "./state.ts";
import { counts, sizes } from "./table/columns.ts";
import { HeapTable } from "./table/HeapTable.tsx";
import { given } from "./table/rows.ts";
import { sorted } from "./table/sorted.ts";

const by = param("sites", "site");
const MAX_SITES = 1000;

const BY = [
  { id: "site", title: "Call sites", what: "the places in the source that allocated" },
  { id: "function", title: "Functions", what: "the functions that allocated" },
];

const COLUMNS = [
  sizes<SiteRow>(
    "alive",
    "Alive",
    "bytes of all blocks of this place that are alive, sampled or not: an estimate",
    0,
    (row) => row.alive.value,
  ),
  counts<SiteRow>("blocks", "Samples", "sampled blocks of this place that are alive", 1, (row) => row.blocks),
  sizes<SiteRow>("retained", "Retained", "what these sampled blocks retain, exactly", 1, (row) => row.retained),
];

/** Where samples were lost, blocks are missing in each row. */
function columns(): typeof COLUMNS {
  const mark = markOf(recording.value);
  return mark ? COLUMNS.map((column) => ({ ...column, text: (row) => mark + column.text(row) })) : COLUMNS;
}

function Sites() {
  const { response, error } = useHeapQuery({
    query: "heapsamples",
    by: by.value === "function" ? "function" : "site",
    limit: MAX_SITES,
  });
  if (error && !response) return <ErrorMessage error={error} />;
  if (!response) return null;
  if (response.sampled === 0) return <Empty title="No block of this snapshot was sampled" />;
  const looks: Looks<SiteRow> = {
    label: "Allocation sites of the blocks that are alive",
    nameTitle: by.value === "function" ? "Function" : "Allocated in",
    key: (row) => row.key ?? "",
    share: (row) => row.share,
    name: (row) => row.name,
    placeTitle: "Where",
    place: ({ file, line }) => (file ? (line === null ? file : `${file}:${line}`) : ""),
  };
  return (
    <HeapTable
      id="sites"
      title="Sites"
      subject={`${snapshot.value?.number} ${by.value} ${response.rows.length}`}
      source={(order) => given(sorted(response.rows, order, ACCESSORS))}
      columns={columns()}
      looks={looks}
      first="alive"
      nothing="No block of this snapshot was sampled"
      open={(row) => row.example !== null && openBlock(row.example)}
      opensWhat="the block that retains most"
      across={(row) => row.key !== null && showWhy(row.key, false)}
      tools={
        <>
          <Segmented label="rows" options={BY} value={by.value} onChoose={(id) => by.set(id)} />
          <span class="quiet clip">
            {markOf(recording.value)}
            {blocks(response.sampled)} of the snapshot sampled when allocated
          </span>
        </>
      }
      actions={(row) => (
        <>
          {row.example !== null && (
            <button
              type="button"
              class="button small"
              title="Enter, or a double click"
              onClick={() => openBlock(row.example!)}
            >
              The one that retains most
            </button>
          )}
          {row.key !== null && <WhyButton name={row.key} within={false} />}
          {row.key !== null && (
            <button
              type="button"
              class="button small plain"
              onClick={() => go({ view: "flame", focus: focusForUrl([row.key!]) })}
            >
              In the flame graph
            </button>
          )}
        </>
      )}
    />
  );
}

const ACCESSORS = {
  keys: {
    alive: (row: SiteRow) => row.alive.value,
    retained: (row: SiteRow) => row.retained,
    blocks: (row: SiteRow) => row.blocks,
  },
  name: ({ name, file }: SiteRow) => (file ? `${name} ${file}` : name),
};

export const sitesView: View = {
  id: "sites",
  half: "heap",
  title: "Sites",
  what: "Where the blocks were allocated that are alive",
  Component: Sites,
  applies: () => recording.value?.trace !== false,
};
