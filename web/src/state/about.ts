/** What the recordings are, as the engine reports, queried again as they grow. */
import { computed, signal } from "@preact/signals";
import type { AboutResponse, RecordingInfo } from "../generated/responses.ts";
import { page } from "./page.ts";

export const about = signal<AboutResponse | null>(null);

/** The recording that is looked at. */
export const recording = computed<RecordingInfo | null>(() => {
  const all = about.value?.recordings ?? [];
  return all[page.value.rec] ?? all[0] ?? null;
});

/** Whether leak suspects are call sites alone: of a program that frees its memory itself, without snapshots. */
export const hasOnlySiteLeaks = ({ is_native, snapshots, trace }: RecordingInfo): boolean =>
  is_native && snapshots === 0 && trace;

/** Whether leak suspects are looked for in any process of a family, of which this is the recording of all. */
export const hasFamilyLeaks = ({ members }: RecordingInfo, all: readonly RecordingInfo[]): boolean =>
  members.some((member) => {
    const run = all[member];
    return run !== undefined && (run.snapshots > 0 || hasSiteLeaks(run));
  });

/** Whether call sites are among the leak suspects: calls of `malloc` of an OCaml program are, too. */
export const hasSiteLeaks = (run: RecordingInfo): boolean => hasOnlySiteLeaks(run) || run.has_malloc;
