/** What the engine and the server send. Written by `cargo xtask types`. */

/** What recordings there are, and what is recorded of each run. */
export type AboutResponse = {
  /** Of memtrail. */
  version: string,
  /** Whether recordings may still grow. */
  live: boolean,
  /** Whether everything is in the page. */
  offline: boolean,
  recordings: Array<RecordingInfo>,
};

/** How far the rate of a recording was lowered on the way. */
export type Adapted = {
  /** The lowest rate of any block. */
  lowest_samples_per_word: number,
  /** Samples that were taken, by the words that they stand for. */
  mean_samples_per_word: number,
};

/** An ask that is not answered: whose fault it is, what is wrong, and what to do about it. */
export type ApiError = {
  /** What is wrong, a lowercase fragment. */
  message: string,
  /** What to do about it. */
  hint?: string,
  /** Which condition of the filter is wrong, from 0. */
  condition?: number,
  /** Byte of the condition's text at which it is wrong. */
  at?: number,
};

/** Sentences, or fragments of that length; absent where there is nothing to know. */
export type Caveats = {
  /** Why all estimates are too low. */
  estimates?: string,
  /** Why what was promoted depends on the sampling. */
  promoted?: string,
  /** What external bytes are. */
  external?: string,
};

/** What a row of a comparison is about. */
export type ChangeRow = {
  status: ChangeStatus,
  key: string,
  label: string,
  module: string | null,
  file: string | null,
  line: number | null,
  /** Number of the function or site, if it is one. */
  entity: number | null,
};

/** How the second side differs from the first. */
export type ChangeStatus = "new" | "gone" | "grown" | "shrunk" | "same";

/** Where a column stands. */
export type ColumnPlace = {
  type: ColumnType,
  /** Bytes from the beginning of the column data, a multiple of 8. */
  at: number,
  /** Elements. */
  len: number,
};

/** What a column is made of. */
export type ColumnType = "f64" | "f32" | "u32" | "u16" | "u8";

/** The two flame graphs as one. Columns: `parent`, `name`, `before`, `after`, `status`, `more`. */
export type CompareFlameResponse = {
  names: Array<string>,
  /** What the numbers in the column of statuses mean. */
  statuses: Array<ChangeStatus>,
  /** All of the first side, normalised. */
  before: number,
  /** All of the second side, normalised. */
  after: number,
};

/**
 * Rows of a comparison. Columns: `before`, `after`, `delta`, `before_stderr`, `after_stderr`,
 * `self_before`, `self_after`, `blocks_before`, `blocks_after`.
 */
export type CompareTableResponse = {
  rows: Array<ChangeRow>,
  /** Rows there are, of which these may be only some. */
  count: number,
  /** All of the first side, normalised. */
  before: number,
  /** All of the second side, normalised. */
  after: number,
};

/** Names that a text may become. */
export type CompleteResponse = {
  values: Array<string>,
};

export type ConditionCheck = {
  canonical: string,
  sentence: string,
  condition: unknown,
} | {
  error: ConditionProblem,
};

/** What is wrong with a condition. */
export type ConditionProblem = {
  /** Byte of its text. */
  at: number,
  message: string,
  /** What to do about it. */
  hint: string | null,
};

/** Each condition as it is written and read, or what is wrong with it. */
export type ConditionsResponse = {
  conditions: Array<ConditionCheck>,
};

/** Allocation time against lifetime: the bounds of cells, in seconds. Columns: `bytes`, `never`. */
export type DensityResponse = {
  times: Array<number>,
  lifetimes: Array<number>,
};

/** What an [`Entity`] is. */
export type EntityKind = "root" | "function" | "site";

/** What is sent in place of a response. */
export type ErrorResponse = {
  /** Why. */
  error: ApiError,
};

/** An estimate and its standard error, in the same unit. */
export type Estimate = {
  /** The estimate. */
  value: number,
  /** Its estimated standard deviation. */
  stderr: number,
};

/** What has changed since a version. */
export type EventsResponse = {
  events: Array<RecordingEvent>,
  /** What to ask with the next time. */
  version: number,
};

/** A file for another tool. Columns: `bytes`. */
export type ExportResponse = {
  filename: string,
  mime: string,
  /** Paths with fewer bytes are added to their callers'; 0 if none are. */
  least_bytes: number,
};

/**
 * A flame graph. Columns of what the focus calls: `down_parent`, `down_entity`, `down_bytes`,
 * `down_blocks`, `down_lifetime`, `down_more`; of what calls it the same with `up_`.
 */
export type FlameResponse = {
  /** Bytes of all that the filter keeps. */
  total: number,
  focus_bytes: number,
};

/** A function or a path that carries much. */
export type HotFragment = {
  /** Keys, outermost first. */
  path: Array<string>,
  /** Outer functions of a very long path that are left out. */
  cut: number,
  bytes: number,
  /** Of all that the filter keeps, 0 to 1. */
  share: number,
  /** Number of the innermost. */
  entity: number | null,
};

/** The functions and paths that carry the weight. */
export type HotFragmentsResponse = {
  functions: Array<HotFragment>,
  /** Functions there are, of which these may be only some. */
  function_count: number,
  paths: Array<HotFragment>,
  /** Paths there are, of which these may be only some. */
  path_count: number,
  /** The least share that is listed. */
  significance: number,
};

/** A function, a call site, or one of the ends of all paths. */
export type Name = {
  key: string,
  name: string,
  kind: EntityKind,
  module: string | null,
  file: string | null,
  line: number | null,
  /** The first column, from 0. */
  start: number | null,
  /** The column after the last. */
  end: number | null,
};

/** What entities are, in the order of the query; none where there is no such entity, or no room for it. */
export type NamesResponse = {
  names: Array<Name | null>,
};

/** Memory over time. Columns: `time`, `minor`, `major`, `external`, `most`, `chosen`. */
export type OverviewResponse = {
  /** Of the whole recording. */
  total: Sums,
  /** Of what the filter keeps. */
  chosen: Sums,
};

/** When most was live, and how much. */
export type Peak = {
  time: number,
  bytes: number,
};

/** A filter with a name. */
export type PresetFilter = {
  /** `leak`, `peak`, `temporary` or `growth`. */
  id: string,
  name: string,
  /** Why these blocks. */
  why: string,
  /** The filter, in its text form. */
  conditions: Array<string>,
};

/** Filters that answer common questions. */
export type PresetsResponse = {
  presets: Array<PresetFilter>,
};

/** What has come to a recording. */
export type RecordingEvent = {
  "kind": "added",
  rec: number,
} | {
  "kind": "grown",
  rec: number,
  events: number,
  end: number,
} | {
  "kind": "snapshot",
  rec: number,
  number: number,
} | {
  "kind": "analysed",
  rec: number,
  number: number,
  ready: number,
  of: number,
} | {
  "kind": "ended",
  rec: number,
  outcome: string | null,
} | {
  "kind": "lost",
  rec: number,
  why: string,
};

/** What is recorded of a run. Bytes and seconds. */
export type RecordingInfo = {
  name: string,
  /** Path of the executable. */
  program: string,
  /** Arguments, the program's own name first. */
  args: Array<string>,
  pid: number,
  host: string,
  /** The language runtime, as `OCaml 4.14`. */
  runtime: string | null,
  ocaml_params: string,
  context: string | null,
  /** Seconds since 1970. */
  start_unix: number,
  duration: number,
  /** Samples per word. */
  rate: number,
  /** How far the rate was lowered on the way, if it was. */
  adapted: Adapted | null,
  bytes_per_sample: number,
  word_bytes: number,
  seed: number | null,
  domains: Array<number>,
  /** Names of all threads, if there are several. */
  threads: Array<string>,
  /** Version of memtrail that recorded. */
  memtrail: string | null,
  state: RecordingState,
  /** How the recording ended, in words; none while it grows. */
  outcome: string | null,
  /** What readers should know, in words. */
  notes: Array<string>,
  /** What must be known of the figures. */
  caveats: Caveats,
  /** What is wrong with the trace, a line each. */
  damage: Array<string>,
  /** Set when the trace holds only a part of the recorded blocks. */
  thinned: Thinned | null,
  /** Number of heap snapshots. */
  snapshots: number,
  /** Whether there is an allocation trace; a snapshot may be there without one. */
  trace: boolean,
  /** Whether the program runs and can be asked for a snapshot. */
  can_snapshot: boolean,
  trace_bytes: number,
  events: number,
  blocks_recorded: number,
  totals: Totals,
};

/** State of a recording. */
export type RecordingState = "growing" | "ended" | "cut" | "lost";

/** What a row of a table is about. */
export type RowName = {
  key: string,
  label: string,
  module: string | null,
  file: string | null,
  line: number | null,
  /** Number of the function or site, if it is one. */
  entity: number | null,
};

/** How much has a name on its path. Columns: `entities`. */
export type SearchResponse = {
  bytes: number,
  /** Of all that the filter keeps, 0 to 1. */
  share: number,
  focus_bytes: number,
  /** Functions and sites that match. */
  matches: number,
};

/** How much a filter keeps in all. Bytes, seconds. */
export type Sums = {
  allocated: Estimate,
  blocks: Estimate,
  /** Bytes never collected. */
  live_end: number,
  peak: Peak,
  /** Of a byte, on average; none if there are none. */
  lifetime: number | null,
};

/** Rows of a table. Columns: `total`, `self`, `live`, `blocks`, `lifetime`, `share`. */
export type TableResponse = {
  rows: Array<RowName>,
  /** Rows there are, of which these may be only some. */
  count: number,
};

/** That the program has been asked. */
export type TakeSnapshotResponse = {
  asked: boolean,
};

/** How much thinning left. */
export type Thinned = {
  /** Recorded blocks that are left. */
  kept: number,
  /** Recorded blocks there were. */
  of: number,
};

/** Sums over everything recorded. */
export type Totals = {
  allocated: Estimate,
  blocks: number,
  /** Bytes never collected. */
  live_end: number,
  peak: Peak,
};
