/** What the snapshot that is looked at is compared with: one of the same recording, or of the baseline's. */
import { useQuery } from "../../engine/useQuery.ts";
import { baseline, holdAgainst, selectedBaseline } from "../../compare/sides.ts";
import type { SnapshotRow } from "../../generated/responses.ts";
import { about } from "../../state/about.ts";
import { go, page, param, rec, withParam } from "../../state/page.ts";
import { isAvailable, compared, included, selectedBase, snapshot } from "../state.ts";

/** The snapshot of the other recording; its last one if none is selected. */
const selected = param("before", "");

export interface Before {
  readonly rec: number;
  readonly snapshot: SnapshotRow;
  readonly after: SnapshotRow;
  /** All that may be selected instead. */
  readonly others: readonly SnapshotRow[];
}

/** The recordings that have snapshots. */
export function withSnapshots(): readonly { rec: number; name: string }[] {
  const all = about.value?.recordings ?? [];
  return all.flatMap(({ name, snapshots }, rec) => (snapshots > 0 ? [{ rec, name }] : []));
}

/** The recording that the snapshot before is of: that of the baseline, if it has any, or of a snapshot that was selected. */
export function recordingBefore(): number {
  if (!selectedBaseline() && selectedBase.value) return rec.value;
  const before = baseline(about.value?.recordings.length ?? 0)?.rec ?? rec.value;
  return withSnapshots().some((one) => one.rec === before) ? before : rec.value;
}

/** Null as long as it is not known, or if there is none. */
export function useBefore(): Before | null {
  const other = recordingBefore();
  const isOwn = other === rec.value;
  const { response, of } = useQuery(isOwn ? null : { query: "snapshots", rec: other });
  if (isOwn) {
    const [before, after] = compared.value ?? [];
    return before && after ? { rec: other, snapshot: before, after, others: included.value } : null;
  }
  const isOfIt = of !== null && (JSON.parse(of) as { rec: number }).rec === other;
  const others = isOfIt ? (response?.snapshots ?? []).filter(isAvailable) : [];
  const before = others.find(({ number }) => String(number) === selected.value) ?? others.at(-1);
  const after = snapshot.value;
  return before && after ? { rec: other, snapshot: before, after, others } : null;
}

/** Compares with a snapshot of the other recording. */
export function chooseBefore(number: number): void {
  selected.set(String(number));
}

/** Compares with another recording, its last snapshot first. */
export function chooseRecordingBefore(rec: number): void {
  go({ more: withParam(holdAgainst(page.value.more, rec), "before", "") });
}
