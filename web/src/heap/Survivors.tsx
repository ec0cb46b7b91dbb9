/** What was alive in one snapshot and still is in a later one, by what allocated it. */
import { useQuery } from "../engine/useQuery.ts";
import { focusForUrl } from "../flame/keys.ts";
import type { AliveEstimate, SurvivorRow } from "../generated/responses.ts";
import type { View } from "../shell/registry.ts";
import { recording } from "../state/about.ts";
import { estimatedBytesWithError } from "../state/estimates.ts";
import { go, param, rec } from "../state/page.ts";
import type { Column, Spare } from "../tables/columns.ts";
import type { Looks } from "../tables/Grid.tsx";
import { blocks, percent, ratio, seconds } from "../text/units.ts";
import { Segmented } from "../widgets/Segmented.tsx";
import { Empty, ErrorMessage } from "../widgets/State.tsx";
import { SnapshotSelect } from "./changes/SnapshotSelect.tsx";
import { WhyButton } from "./join/Buttons.tsx";
import { showWhy } from "./join/links.ts";
import { chooseBoth, compared, included, titleOf } from "./state.ts";
import { HeapTable } from "./table/HeapTable.tsx";
import { given } from "./table/rows.ts";
import { sorted } from "./table/sorted.ts";

const by = param("survivors", "site");
const MAX_ROWS = 1000;

const BY = [
  { id: "site", title: "Call sites", what: "the places in the source that allocated" },
  { id: "function", title: "Functions", what: "the functions that allocated" },
];

function estimate(sort: string, title: string, what: string, spare: Spare, of: (row: SurvivorRow) => AliveEstimate) {
  const column: Column<SurvivorRow> = {
    sort,
    title,
    what: `${what}: an estimate`,
    spare,
    text: (row) => sizeOf(of(row)),
    plain: (row) => String(of(row).bytes.value),
  };
  return column;
}

const sizeOf = ({ bytes, sampled }: AliveEstimate): string =>
  sampled === 0 ? "–" : estimatedBytesWithError(bytes.value, bytes.stderr);

const orNothing = (alive: AliveEstimate): string => (alive.sampled === 0 ? "nothing" : sizeOf(alive));

const half = ({ survived }: SurvivorRow): number | null => survived.allocated?.[1] ?? null;

const COLUMNS: readonly Column<SurvivorRow>[] = [
  estimate("survived", "Survived", "bytes alive in both snapshots", 0, (row) => row.survived),
  {
    sort: "survival",
    title: "Of before",
    what: "what part of the bytes that were alive in the first snapshot survived",
    spare: 2,
    text: ({ survival }) => (survival === null ? "" : percent(survival)),
    plain: ({ survival }) => String(survival ?? ""),
  },
  estimate("freed", "Freed", "bytes alive in the first snapshot alone", 2, (row) => row.freed),
  estimate("added", "Added", "bytes alive in the second snapshot alone", 1, (row) => row.added),
  {
    sort: "allocated",
    title: "Allocated at",
    what: "when half of what survived had been allocated, from the start of the recording",
    spare: 2,
    text: (row) => {
      const moment = half(row);
      return moment === null ? "" : seconds(moment);
    },
    plain: (row) => String(half(row) ?? ""),
  },
];

function Survivors() {
  // The earlier one is before, whichever was selected first.
  const [from, to] = (compared.value ?? []).toSorted((a, b) => a.number - b.number);
  const byFunction = by.value === "function";
  const { response, error, of } = useQuery(
    from && to
      ? {
          query: "heapsurvivors",
          rec: rec.value,
          from: from.number,
          to: to.number,
          by: byFunction ? "function" : "site",
          limit: MAX_ROWS,
        }
      : null,
    "h",
  );
  if (included.value.length < 2 || !from || !to) {
    return (
      <Empty title="Two snapshots are needed">
        <p>memtrail run --snapshot every-major takes one at each major collection.</p>
      </Empty>
    );
  }
  if (error) return <ErrorMessage error={error} />;
  if (!response) return null;
  const choose = (from: number, to: number): void => chooseBoth(from, to, "survivors");
  const most = response.survived.bytes.value;
  const looks: Looks<SurvivorRow> = {
    label: "Allocation sites of the blocks that survived",
    nameTitle: byFunction ? "Function" : "Allocated in",
    key: (row) => row.key ?? "",
    share: (row) => ratio(row.survived.bytes.value, most),
    name: (row) => row.name,
    placeTitle: "Where",
    place: ({ file, line }) => (file ? (line === null ? file : `${file}:${line}`) : ""),
  };
  return (
    <div class="with-errors">
      <HeapTable
        id="survivors"
        title="Survivors"
        subject={`${of} ${response.rows.length}`}
        source={(order) => given(sorted(response.rows, order, ACCESSORS))}
        columns={COLUMNS}
        looks={looks}
        first="survived"
        nothing="None of the blocks that are alive was sampled"
        open={(row) => row.key !== null && showWhy(row.key, false)}
        opensWhat="what retains them"
        across={(row) => row.key !== null && showWhy(row.key, false)}
        tools={
          <>
            <Segmented
              label="rows"
              options={BY}
              value={byFunction ? "function" : "site"}
              onChoose={(id) => by.set(id)}
            />
            <SnapshotSelect
              label="before"
              from={included.value.filter((one) => one.number < to.number)}
              value={from}
              onChoose={(number) => choose(number, to.number)}
            />
            <span class="quiet">→</span>
            <SnapshotSelect
              label="after"
              from={included.value.filter((one) => one.number > from.number)}
              value={to}
              onChoose={(number) => choose(from.number, number)}
            />
            <span class="quiet clip" title={`from ${titleOf(from)} to ${titleOf(to)}`}>
              {orNothing(response.survived)} survived, {orNothing(response.freed)} freed, {orNothing(response.added)}{" "}
              added in {seconds(response.to_at - response.from_at)}
            </span>
          </>
        }
        actions={({ key, survived, freed, added }) => (
          <>
            <span class="quiet">{blocks(survived.sampled + freed.sampled + added.sampled)} sampled</span>
            {key !== null && <WhyButton name={key} within={false} />}
            {key !== null && (
              <button
                type="button"
                class="button small plain"
                onClick={() => go({ view: "flame", focus: focusForUrl([key]) })}
              >
                In the flame graph
              </button>
            )}
          </>
        )}
      />
    </div>
  );
}

const ACCESSORS = {
  keys: {
    survived: (row: SurvivorRow) => row.survived.bytes.value,
    survival: (row: SurvivorRow) => row.survival ?? 0,
    freed: (row: SurvivorRow) => row.freed.bytes.value,
    added: (row: SurvivorRow) => row.added.bytes.value,
    allocated: (row: SurvivorRow) => half(row) ?? 0,
  },
  name: ({ name, file }: SurvivorRow) => (file ? `${name} ${file}` : name),
};

export const survivorsView: View = {
  id: "survivors",
  half: "heap",
  title: "Survivors",
  what: "What was alive in one snapshot and still is in a later one, by what allocated it",
  Component: Survivors,
  applies: () => recording.value?.trace !== false && included.value.length > 1,
};
