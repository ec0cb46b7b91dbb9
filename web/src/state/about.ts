/** What the recordings are, as the engine tells, asked again as they grow. */
import { computed, signal } from "@preact/signals";
import type { About, Recording } from "../engine/answers.ts";
import { page } from "./page.ts";

export const about = signal<About | null>(null);

/** The recording that is looked at. */
export const recording = computed<Recording | null>(() => {
  const all = about.value?.recordings ?? [];
  return all[page.value.rec] ?? all[0] ?? null;
});
