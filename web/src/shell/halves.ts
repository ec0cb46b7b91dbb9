/** The two halves of the page: what was allocated, and snapshots of the heap. */
import { computed, effect } from "@preact/signals";
import { recording } from "../state/about.ts";
import { go, view } from "../state/page.ts";
import { views } from "../views.ts";
import type { Half, View } from "./registry.ts";

/** The halves that the recording has something for. */
export const halves = computed<readonly Half[]>(() => {
  const run = recording.value;
  if (!run) return ["allocations"];
  const heap = run.snapshots > 0 || run.can_snapshot;
  if (!run.trace && heap) return ["heap"];
  return heap ? ["allocations", "heap"] : ["allocations"];
});

/** The half that is looked at: the selected view's. */
export const half = computed<Half>(() => {
  const wanted = views.find(({ id }) => id === view.value)?.half ?? "allocations";
  return halves.value.includes(wanted) ? wanted : halves.value[0]!;
});

/** The views of the half that have something to show. */
export const offered = computed<readonly View[]>(() =>
  views.filter((one) => one.half === half.value && (one.applies?.() ?? true)),
);

export const shownView = computed<View | undefined>(
  () => offered.value.find(({ id }) => id === view.value) ?? offered.value[0],
);

/** What was last looked at in each half. */
const last: Partial<Record<Half, string>> = {};
effect(() => {
  const shown = shownView.value;
  if (shown) last[shown.half] = shown.id;
});

export function switchTo(to: Half): void {
  const id = last[to] ?? views.find((one) => one.half === to)?.id;
  if (id !== undefined && to !== half.value) go({ view: id });
}
