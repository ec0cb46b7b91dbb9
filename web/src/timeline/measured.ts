/** What was measured of the process besides its allocations: resident memory and garbage collections. */
import { useQuery } from "../engine/useQuery.ts";
import type { CollectionSpan, ProcessResponse, ResidentMemory } from "../generated/responses.ts";
import { param, rec } from "../state/page.ts";
import { count, percent, seconds } from "../text/units.ts";

/** Whether resident memory is drawn over live memory. */
export const rssShown = param("rss", "");

export function useProcess(ready: boolean): ProcessResponse | null {
  return useQuery(ready ? { query: "process", rec: rec.value } : null).response;
}

/** Index of the first measurement of resident memory after a time. */
function after({ seconds }: ResidentMemory, time: number): number {
  const found = seconds.findIndex((at) => at > time);
  return found < 0 ? seconds.length : found;
}

/** What was measured last before a time; null before the first measurement. */
export function rssAt(process: ProcessResponse | null, time: number): number | null {
  const memory = process?.memory;
  return (memory && memory.rss[after(memory, time) - 1]) ?? null;
}

/** The line between the measurements: its height at a time, null outside of them. */
export function rssLine(memory: ResidentMemory, time: number): number | null {
  const next = after(memory, time);
  const [from, to] = [memory.seconds[next - 1], memory.seconds[next]];
  const [low, high] = [memory.rss[next - 1], memory.rss[next]];
  if (from === undefined || low === undefined) return null;
  if (to === undefined || high === undefined) return time === from ? low : null;
  return low + ((high - low) * (time - from)) / (to - from);
}

/** What the collector did around a time. */
export function spanAt(process: ProcessResponse | null, time: number): CollectionSpan | null {
  return process?.collections?.over_time.find(({ to }) => time <= to) ?? null;
}

/** One line about what the collector did. */
export function told(span: CollectionSpan): string {
  const { share, minor_collections, slices, major_cycles, longest, replaced } = span;
  const first = longest[0];
  const cycles = major_cycles ? `, ${count(major_cycles)} major cycles ended` : "";
  if (replaced && !minor_collections && !slices) return `time in the GC: not measured${cycles}`;
  const pause = first ? `; longest ${seconds(first.seconds)} (${first.part})` : "";
  return `${percent(share)} of the time in the GC: ${count(minor_collections)} minor collections, ${count(slices)} slices${cycles}${pause}`;
}
