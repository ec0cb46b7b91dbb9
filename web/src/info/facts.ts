/** What is known of a recording, in groups of rows; what is not known is left out. */
import type { ProcessResponse, RecordingInfo, RecordingState } from "../generated/responses.ts";
import { AT_LEAST, markOf } from "../state/estimates.ts";
import { bytes, bytesWithError, count, grouped, percent, ratio, seconds } from "../text/units.ts";

export interface Row {
  name: string;
  value: string;
  /** Text of the program's own, not ours. */
  mono: boolean;
}

export interface Group {
  title: string;
  rows: Row[];
}

const STATES: Readonly<Record<RecordingState, string>> = {
  growing: "growing: the program runs",
  ended: "complete",
  cut: "cut short",
  lost: "the program was lost",
};

function rate(value: number): string {
  return value.toPrecision(3).replace(/\.?0+(e|$)/, "$1");
}

/** How far the rate was lowered, if it was. */
function adapted({ adapted }: RecordingInfo): string {
  if (!adapted) return "";
  return `; adapted down to ${rate(adapted.lowest_samples_per_word)}; effective mean ${rate(adapted.mean_samples_per_word)}`;
}

export function facts(run: RecordingInfo, version: string, process: ProcessResponse | null = null): Group[] {
  const { totals } = run;
  const mark = markOf(run);
  const group = (title: string, rows: (Row | null)[]): Group => ({ title, rows: rows.filter((row) => row !== null) });
  const groups = [
    group("Program", [
      row("Executable", run.program, true),
      row("Arguments", run.args.slice(1).join(" "), true),
      row("Context", run.context, true),
      row("Process", String(run.pid)),
      row("Host", run.host, true),
      row("Started", date(run.start_unix)),
      row("Recorded for", seconds(run.duration)),
      row("How it ended", run.outcome),
    ]),
    group("Memory", [
      row("Allocated", mark + bytesWithError(totals.allocated.value, totals.allocated.stderr)),
      row("Blocks allocated", mark + count(totals.blocks)),
      row("Most live at once", `${mark}${bytes(totals.peak.bytes)}, at ${seconds(totals.peak.time)}`),
      row("Live at the end", mark + bytes(totals.live_end)),
    ]),
    group("Resident memory", resident(process)),
    group("Garbage collector", collector(process)),
    group("Recording", [
      row("Name", run.name, true),
      row("State", STATES[run.state]),
      row("Sampling rate", `${rate(run.rate)} a word: a sample each ${bytes(run.bytes_per_sample)}${adapted(run)}`),
      row("Blocks sampled", grouped(run.blocks_recorded)),
      row("Events", grouped(run.events)),
      row("Trace", bytes(run.trace_bytes)),
      row("Subsampled", subsampled(run)),
      row("Seed", run.seed === null ? null : String(run.seed)),
      row("Recorded by", run.memtrail && `memtrail ${run.memtrail}`),
      row("Shown by", version && `memtrail ${version}`),
    ]),
    group("Runtime", [
      row("Language", run.runtime),
      row("Parameters", run.ocaml_params, true),
      row("Word", `${run.word_bytes * 8} bits`),
      row("Domains", run.domains.length > 1 ? run.domains.join(", ") : null),
      row("Threads", run.threads.length > 0 ? run.threads.join(", ") : null, true),
    ]),
  ];
  return groups.filter(({ rows }) => rows.length > 0);
}

/** What resident memory was used for at the last measurement. */
function resident(process: ProcessResponse | null): (Row | null)[] {
  const memory = process?.memory;
  const [at, rss] = [memory?.seconds.at(-1), memory?.rss.at(-1)];
  if (!memory || at === undefined || rss === undefined) return [];
  const part = (size: number) => `${bytes(size)}, ${percent(ratio(size, rss))}`;
  return [
    row("RSS", `${bytes(rss)} after ${seconds(at)}`),
    ...memory.parts.map(({ name, bytes: sizes }) => (sizes.at(-1) ? row(name, part(sizes.at(-1) ?? 0)) : null)),
    ...(memory.malloc?.allocators ?? []).flatMap(({ name, bytes: size, sites }) => [
      row(`Of malloc: ${name}`, part(size)),
      ...sites.map(({ site, bytes: size }) => row("", `${bytes(size)}: ${site}`)),
    ]),
    memory.malloc ? row("Of malloc: not sampled, and its own", part(memory.malloc.rest)) : null,
    ...memory.advice.map((advice) => row("To return it", advice)),
  ];
}

/** What the garbage collector did in all. */
function collector(process: ProcessResponse | null): (Row | null)[] {
  const whole = process?.collections?.whole;
  if (!whole) return [];
  const work = (number: number, time: number) => `${grouped(number)}, ${seconds(time)}`;
  const known = (number: number | null) => (number === null ? null : grouped(number));
  if (whole.replaced) {
    return [
      row("Time", "not measured: the program has put hooks of its own in the place of memtrail's"),
      row("Major cycles", known(whole.major_cycles)),
    ];
  }
  return [
    row("Time", `${seconds(whole.seconds)}, ${percent(whole.share)} of all`),
    row("Minor collections", work(whole.minor_collections, whole.minor_seconds)),
    row("Slices of the major collection", work(whole.slices, whole.slice_seconds)),
    row("Major cycles", known(whole.major_cycles)),
    row("Compactions", known(whole.compactions)),
    ...whole.longest.map((pause, index) =>
      row(index ? "" : "Longest pauses", `${seconds(pause.seconds)} at ${seconds(pause.at)} (${pause.part})`),
    ),
  ];
}

/** What must be known of the figures, a line each. */
export function caveats({ caveats }: RecordingInfo): string[] {
  const { estimates, promoted, external } = caveats;
  return [estimates && `${AT_LEAST} ${estimates}`, promoted, external].filter((line) => line !== undefined);
}

export function asText(run: RecordingInfo, version: string, process: ProcessResponse | null = null): string {
  const lines = facts(run, version, process).flatMap(({ title, rows }) => [
    title,
    ...rows.map(({ name, value }) => `  ${name}: ${value}`),
  ]);
  if (run.damage.length > 0) lines.push("Damage", ...run.damage.map((line) => `  ${line}`));
  const known = caveats(run);
  if (known.length > 0) lines.push("What figures mean", ...known.map((line) => `  ${line}`));
  if (run.notes.length > 0) lines.push("Notes of the recorder", ...run.notes.map((line) => `  ${line}`));
  return `${lines.join("\n")}\n`;
}

function row(name: string, value: string | null | undefined, mono = false): Row | null {
  return value ? { name, value, mono } : null;
}

function subsampled({ subsampled }: RecordingInfo): string | null {
  if (!subsampled) return null;
  const share = percent(ratio(subsampled.kept, subsampled.of));
  return `${grouped(subsampled.kept)} of ${grouped(subsampled.of)} samples kept (${share}); estimates take it into account`;
}

/** `2026-11-21 16:04:31 UTC`. */
function date(unix: number): string | null {
  if (!(unix > 0)) return null;
  return `${new Date(unix * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
