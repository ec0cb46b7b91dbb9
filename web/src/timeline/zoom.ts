/** Which part of the recording the timeline shows: all of it, or what the URL says. */
import { recording } from "../state/about.ts";
import { filter, go, page, withParam, type How } from "../state/page.ts";
import { shown } from "./ranges.ts";
import { rounded } from "./scale.ts";

export interface Window {
  /** Seconds. */
  from: number;
  to: number;
  whole: boolean;
}

export function shownWindow(): Window {
  const duration = recording.value?.duration ?? 0;
  const [from, to] = [Number(page.value.more["from"]), Number(page.value.more["to"])];
  if (from >= 0 && to > from && from < duration) return { from, to: Math.min(to, duration), whole: false };
  return { from: 0, to: Math.max(duration, 1e-6), whole: true };
}

export function zoomTo(from: number, to: number, how: How): void {
  const duration = recording.value?.duration ?? 0;
  const whole = from <= 0 && to >= duration;
  const resolution = (to - from) / 2000;
  const text = (time: number) => (whole ? "" : String(rounded(time, resolution)));
  go({ more: withParam(withParam(page.value.more, "from", text(from)), "to", text(to)) }, how);
}

/** Zooms to the range that is selected, or back to the whole. */
export function toggleZoom(): void {
  const run = recording.value;
  if (!run) return;
  const { duration } = run;
  if (!shownWindow().whole) {
    zoomTo(0, duration, "push");
    return;
  }
  const keys = [["allocated"], ["live", "collected"]] as const;
  for (const key of keys) {
    const span = shown(filter.value, key, duration, run.totals.peak.time)?.spans[0];
    if (!span) continue;
    const [from, to] = [span.from ?? 0, span.to ?? duration];
    if (to <= from) continue;
    const margin = (to - from) * 0.05;
    zoomTo(Math.max(0, from - margin), Math.min(duration, to + margin), "push");
    return;
  }
}
