/** Which snapshot is looked at, and how the page asks about it. */
import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { hasStoredResponses } from "../engine/stored.ts";
import { queryOnce, useQuery, type QueryState } from "../engine/useQuery.ts";
import type { Query, QueryName } from "../engine/engine.ts";
import type { QueryResponse, EngineError } from "../engine/slab.ts";
import { recording } from "../state/about.ts";
import { go, page, param, rec, withParam } from "../state/page.ts";
import { printHash } from "../state/url.ts";
import type { Responses, SnapshotRow, SnapshotsResponse } from "../generated/responses.ts";
import type { NodeId } from "./node.ts";

/** Counts new snapshots and finished analyses. */
export const heapRevision = signal(0);
/** Counts snapshots that were opened here: from then on names of their variables are known. */
export const namesRevision = signal(0);
const opened = new Set<string>();

const snapshotsResponse = signal<SnapshotsResponse | null>(null);
export const snapshotsError = signal<EngineError | null>(null);

const selectedNumber = param("snap", "");
const baseNumber = param("base", "");

/** All there are, by number. */
export const snapshots = computed<readonly SnapshotRow[]>(() => snapshotsResponse.value?.snapshots ?? []);

/** Those that can be asked about, also where they are damaged further on: not only their summaries are here. */
export const isAvailable = ({ included, readable }: SnapshotRow): boolean => included && readable;
export const included = computed(() => snapshots.value.filter(isAvailable));

/** The snapshot with this number, or else the last with this label. */
function find(wanted: string): SnapshotRow | undefined {
  if (wanted === "") return undefined;
  const byNumber = snapshots.value.find(({ number }) => String(number) === wanted);
  return byNumber ?? snapshots.value.findLast(({ label }) => label === wanted);
}

/** The snapshot that is looked at: the selected one, or the last of which something can be asked. */
export const snapshot = computed<SnapshotRow | null>(() => {
  const last = snapshots.value.at(-1);
  const answered = last && hasStoredResponses(rec.value, last.number) ? last : undefined;
  return find(selectedNumber.value) ?? answered ?? included.value.at(-1) ?? last ?? null;
});

/** What a snapshot is called in a list. */
export function titleOf({ number, label, major }: SnapshotRow): string {
  const name = label === null ? String(number) : `${number} “${label}”`;
  return major === null ? name : `${name} (GC ${major})`;
}

/** What it is compared with: the selected one, or else the first; the first is compared with the last. */
export const base = computed<SnapshotRow | null>(() => {
  if (baseIsSelected.value) return selectedBase.value;
  const first = included.value[0];
  return (first === snapshot.value ? included.value.findLast((one) => one !== first) : first) ?? null;
});

/** The snapshot that was selected to compare others with, which stays while they are looked at. */
export const selectedBase = computed<SnapshotRow | null>(() => find(baseNumber.value) ?? null);

/** Whether that is another than the one that is looked at. */
export const baseIsSelected = computed(() => selectedBase.value !== null && selectedBase.value !== snapshot.value);

/** Before and after: as they were selected, or else in the order they were taken. */
export const compared = computed<readonly [SnapshotRow, SnapshotRow] | null>(() => {
  const [from, to] = [base.value, snapshot.value];
  if (!from || !to) return null;
  return baseIsSelected.value || from.number <= to.number ? [from, to] : [to, from];
});

/** Looks at another snapshot. The last one is followed as more come. Blocks have other numbers there. */
export function chooseSnapshot(number: number): void {
  const last = included.value.at(-1)?.number;
  const more = withParam(withoutPlaces(), "snap", number === last ? "" : String(number));
  const view = ["block", "who"].includes(page.value.view) ? "roots" : page.value.view;
  go({ more, view });
}

/** Compares two snapshots. */
export function chooseBoth(from: number, to: number, view = "changes"): void {
  go({ more: withParam(withParam(withoutPlaces(), "snap", String(to)), "base", String(from)), view });
}

/** The parameters without what means something in one recording only. */
export function ofNoRecording(): Readonly<Record<string, string>> {
  return ["snap", "base", "before"].reduce((more, name) => withParam(more, name, ""), withoutPlaces());
}

/** The parameters without what means something in one snapshot only. */
function withoutPlaces(): Readonly<Record<string, string>> {
  return ["block", "node", "owner", "who"].reduce((more, name) => withParam(more, name, ""), page.value.more);
}

/** Asks for what there is, while the heap is looked at. */
export function useSnapshots(): void {
  const wanted = (recording.value?.snapshots ?? 0) > 0;
  const { response, of, error } = useQuery(
    wanted ? { query: "snapshots", rec: rec.value } : null,
    `s${heapRevision.value}.${recording.value?.snapshots ?? 0}`,
  );
  // What was answered about another recording is of no use.
  const own = wanted && of !== null && (JSON.parse(of) as { rec: number }).rec === rec.value;
  useEffect(() => {
    snapshotsResponse.value = own ? response : null;
    snapshotsError.value = error;
  }, [response, own, error]);
}

/** A question about the snapshot that is looked at: its response never changes. */
function heapQuery<Name extends QueryName>(query: Query<Name>): Query<Name> | null {
  const number = snapshot.value?.number;
  return number === undefined ? null : { rec: rec.value, snapshot: number, ...query };
}

/** Where the response is an error, what was shown before was about another snapshot, and is gone. */
export function useHeapQuery<Name extends QueryName>(query: Query<Name> | null): QueryState<Responses[Name]> {
  const state = useQuery<Name>(query && heapQuery(query), "h");
  const of = `${rec.value}.${snapshot.value?.number}`;
  useEffect(() => {
    if (!state.fresh || opened.has(of)) return;
    opened.add(of);
    namesRevision.value += 1;
  }, [state.fresh, of]);
  return state.error ? { ...state, response: null } : state;
}

/** For parts of the page that are there only while a snapshot is looked at. */
export function queryHeapOnce<Name extends QueryName>(
  query: Query<Name>,
  signal?: AbortSignal,
): Promise<QueryResponse<Responses[Name]>> {
  return queryOnce<Name>(heapQuery(query) ?? query, signal);
}

const hrefWith = (view: string, more: Readonly<Record<string, string>>): string =>
  `#${printHash({ ...page.value, view, more })}`;

/** The link to a block's page. */
export function blockHref(block: number): string {
  return hrefWith("block", withParam(page.value.more, "block", String(block)));
}

/** The link to a place in the dominator tree. */
export function dominatorHref(node: NodeId): string {
  return hrefWith("dominators", withParam(page.value.more, "node", node === "all" ? "" : node));
}

/** The link to what is at a place: a block's page, else the dominator tree there. */
export function nodeHref(node: NodeId): string {
  const block = blockOf(node);
  return block === null ? dominatorHref(node) : blockHref(block);
}

export function blockOf(node: NodeId): number | null {
  const found = /^block:(\d+)$/.exec(node);
  return found ? Number(found[1]) : null;
}

export function openNode(node: NodeId): void {
  go({ view: "dominators", more: withParam(page.value.more, "node", node === "all" ? "" : node) });
}

export function openBlock(block: number): void {
  go({ view: "block", more: withParam(page.value.more, "block", String(block)) });
}
