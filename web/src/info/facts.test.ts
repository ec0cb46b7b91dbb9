import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProcessResponse, RecordingInfo } from "../generated/responses.ts";
import { asText, facts } from "./facts.ts";

const run: RecordingInfo = {
  name: "server-4711",
  program: "/usr/bin/server",
  args: ["server", "--port", "80"],
  pid: 4711,
  host: "",
  runtime: "OCaml 4.14",
  is_native: false,
  has_malloc: false,
  ocaml_params: "",
  context: null,
  start_unix: 1_700_000_000,
  duration: 125,
  rate: 1e-4,
  adapted: null,
  bytes_per_sample: 80_000,
  word_bytes: 8,
  seed: null,
  domains: [0],
  threads: [],
  memtrail: "0.4.0",
  state: "cut",
  outcome: "killed by signal 9",
  notes: ["a note"],
  caveats: {},
  damage: ["offset 12: cut short"],
  subsampled: { kept: 1000, of: 4000 },
  members: [],
  snapshots: 0,
  trace: true,
  impossible: false,
  can_snapshot: false,
  trace_bytes: 2 ** 20,
  events: 12_345,
  blocks_recorded: 6000,
  totals: {
    allocated: { value: 2 ** 30, stderr: 2 ** 24 },
    blocks: 5e6,
    live_end: 2 ** 20,
    peak: { time: 60, bytes: 2 ** 21 },
  },
};

test("what is known is told, what is not is left out", () => {
  const rows = facts(run, "0.4.0").flatMap(({ rows }) => rows);
  const value = (name: string) => rows.find((row) => row.name === name)?.value;
  assert.equal(value("Arguments"), "--port 80");
  assert.equal(value("Started"), "2023-11-14 22:13:20 UTC");
  assert.equal(value("Sampling rate"), "0.0001 a word: a sample each 78.1 KiB");
  assert.equal(value("Subsampled"), "1,000 of 4,000 samples kept (25 %); estimates take it into account");
  assert.equal(value("Allocated"), "1.00 ±0.02 GiB");
  for (const unknown of ["Host", "Context", "Seed", "Domains", "Threads"]) assert.equal(value(unknown), undefined);
});

test("as text it holds damage and notes too", () => {
  const text = asText(run, "");
  assert.match(text, /Damage\n  offset 12: cut short\nNotes of the recorder\n  a note\n$/);
});

test("what was measured of the process is shown as at its end", () => {
  const process: ProcessResponse = {
    memory: {
      seconds: [1, 2],
      rss: [2 ** 20, 2 ** 22],
      cpu_seconds: [],
      parts: [
        { name: "malloc, in use", kind: "", bytes: [0, 2 ** 20] },
        { name: "stacks of threads", kind: "", bytes: [2 ** 20, 0] },
      ],
      advice: ["Gc.compact would return 1 MiB"],
      malloc_in_use: 2 ** 20,
      malloc: {
        allocators: [
          {
            allocator: "native",
            name: "native code",
            bytes: 2 ** 19,
            sites: [{ site: "f (a.c:1)", bytes: 2 ** 18, asked: 2 ** 18, asked_stderr: 2 ** 10 }],
            other_sites: 3,
          },
        ],
        rest: 2 ** 19,
        asked: 2 ** 19,
        asked_stderr: 2 ** 12,
      },
    },
    collections: null,
  };
  const groups = facts(run, "", process);
  const rows = groups.find(({ title }) => title === "Resident memory")?.rows.map(({ name, value }) => [name, value]);
  assert.deepEqual(rows, [
    ["RSS", "4.00 MiB after 2.00 s"],
    ["malloc, in use", "1.00 MiB, 25 %"],
    ["Of malloc: native code", "512 KiB, 13 %"],
    ["", "256 KiB: f (a.c:1)"],
    ["Of malloc: not sampled, and its own", "512 KiB, 13 %"],
    ["To return it", "Gc.compact would return 1 MiB"],
  ]);
  assert.equal(
    groups.find(({ title }) => title === "Garbage collector"),
    undefined,
  );
});
