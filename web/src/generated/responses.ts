/** What the engine and the server send. Written by `cargo xtask types`. */

/** What recordings there are, and what is recorded of each run. */
export type AboutResponse = {
  /** Of memtrail. */
  version: string,
  /** Whether recordings may still grow. */
  live: boolean,
  /** Whether everything is in the page. */
  offline: boolean,
  /** Whether source files can be shown. */
  sources: boolean,
  /** The address that opens a source file in an editor, with `{path}`, `{line}` and `{column}` in it. */
  editor: string | null,
  recordings: Array<RecordingInfo>,
};

/** How far the rate of a recording was lowered on the way. */
export type Adapted = {
  /** The lowest rate of any block. */
  lowest_samples_per_word: number,
  /** Samples that were taken, by the words that they stand for. */
  mean_samples_per_word: number,
};

/** What is estimated of blocks from those that were sampled. */
export type AliveEstimate = {
  /** Bytes, sampled or not, and of memory off the heap that they own. */
  bytes: Estimate,
  /** How many, sampled or not. */
  blocks: Estimate,
  /** How many were sampled. */
  sampled: number,
  /**
   * When they were allocated, in seconds since the start: a tenth of the bytes before the first moment, half before
   * the second, all but a tenth before the third.
   */
  allocated: [number, number, number] | null,
};

/** What allocated most blocks of a place, as far as the sampled ones tell. */
export type AllocatedBy = {
  /** What the name is of. */
  precision: Precision,
  /** The call site's function, the function, or the module. */
  name: string,
  /** The source file. */
  file: string | null,
  /** From 1; 0 if unknown. */
  line: number | null,
  /** How many sampled blocks it allocated. */
  samples: number,
  /** Of how many. */
  of: number,
};

/** Blocks of a kind that have one name. */
export type AllocatedPart = {
  /** How many. */
  blocks: number,
  /** Their own size, headers counted. */
  bytes: Bytes,
  /** What the name is of. */
  precision: Precision,
  /** The call site's function, the function, or the module. */
  name: string,
  /** The source file. */
  file: string | null,
  /** From 1; 0 if unknown. */
  line: number | null,
  /** How many sampled blocks it allocated. */
  samples: number,
  /** Of how many. */
  of: number,
};

/** Whose call sites they are. */
export type Allocator = "ocaml" | "runtime" | "native";

/** A place in the program, and what of some blocks it allocated. */
export type AllocatorRow = {
  /** What filters call it. */
  key: string | null,
  /** What it is shown as. */
  name: string,
  /** The source file. */
  file: string | null,
  /** The line. */
  line: number | null,
  /** What it allocated. */
  alive: AliveEstimate,
  /** Of all of them. */
  share: number,
  /** The functions that called it, the nearest first, for one of the blocks. */
  callers: Array<string>,
  /** That block. */
  example: BlockIndex,
};

/** What one kind of code has in use. */
export type AllocatorUse = {
  /** Which. */
  allocator: Allocator,
  /** The same in words. */
  name: string,
  /** Bytes of what the allocator counts. */
  bytes: number,
  /** The largest call sites, the largest first. */
  sites: Array<SiteUse>,
  /** How many there are besides. */
  other_sites: number,
};

/** What a query gets that has to wait. */
export type Analysing = {
  /** The number of the snapshot that is being analysed. */
  snapshot: number,
};

/** A response that says that the query is to be repeated. */
export type AnalysingResponse = {
  analysing: Analysing,
};

/** A query that is not answered: whose fault it is, what is wrong, and what to do about it. */
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

/** A call site of a backtrace. */
export type BlockFrame = {
  /** The function. */
  name: string | null,
  /** What filters call it. */
  key: string | null,
  /** Its module. */
  module: string | null,
  /** The source file; empty if unknown. */
  file: string,
  /** From 1; 0 if unknown. */
  line: number,
  /** The first column, from 0. */
  start: number,
  /** The column after the last. */
  end: number,
};

/** A block of a snapshot: its place in the order of addresses, from 0. */
export type BlockIndex = number;

/** All that is known of a block. */
export type BlockResponse = {
  /** Its number. */
  block: BlockIndex,
  /** What queries call it. */
  node: string,
  /** What sort of block. */
  kind: string,
  /** Where its first field was in the program's memory. */
  address: string,
  /** Its own size, header counted. */
  size: Bytes,
  /** Bytes outside the heap that go with it; none if it is unknown how many. */
  external: Bytes | null,
  /** What it retains, itself counted. */
  retained: Bytes,
  /** Bytes outside the heap that go with that. */
  retained_external: Bytes,
  /** How many blocks it retains. */
  blocks: number,
  /** Which part of memory it is in. */
  space: string,
  /** Whether anything retains it. */
  reachable: boolean,
  /** How a string begins, as OCaml writes it, where the snapshot has contents. */
  text: string | null,
  /** Bytes of all of it. */
  text_length: number | null,
  /** Whether there is more of it. */
  text_is_cut: boolean | null,
  /** The retaining path, from a root down to it. */
  path: Array<PathStep>,
  /** What it points to. */
  references: Listed<ReferenceRow>,
  /** What points to it. */
  referenced_by: Listed<ReferrerRow>,
  /** What it dominates directly. */
  dominates: Listed<ChildRow>,
  /** What dominates it directly. */
  dominator: NodeInfo | null,
  /** Where and when it was allocated, if it was sampled. */
  sample: BlockSample | null,
  /** Where most blocks of its kind in the same place of the graph were allocated, if it has no type. */
  allocated: AllocatedBy | null,
};

/** A block of a list. */
export type BlockRow = {
  /** Its number. */
  block: BlockIndex,
  /** Its kind. */
  kind: string,
  /** Its own size, header counted. */
  size: Bytes,
  /** Bytes outside the heap that go with it. */
  external: Bytes,
  /** Bytes that would be freed without it. */
  retained: Bytes,
  /** What it retains, of all that is reachable. */
  share: number,
  /** The root that owns it. */
  owner: string | null,
  /** What queries call that root. */
  owner_node: string | null,
  /** Seconds from its allocation to the snapshot, if it was sampled. */
  age: number | null,
};

/** Where and when a block was allocated. */
export type BlockSample = {
  /** Seconds since the start. */
  time: number,
  /** The calls that allocated it, innermost first. */
  frames: Array<BlockFrame>,
  /** How long it lived, in seconds, if it was collected later. */
  lifetime: number | null,
};

/** An estimate of blocks from those that were sampled. */
export type BlocksEstimate = {
  /** Bytes, sampled or not. */
  bytes: Estimate,
  /** How many, sampled or not. */
  blocks: Estimate,
  /** How many were sampled. */
  sampled: number,
};

/** Blocks that a filter wants. */
export type BlocksResponse = {
  /** Some of them, in order. */
  rows: Array<BlockRow>,
  /** How many there are. */
  count: number,
  /** How many of these can be listed: those first in order. */
  listed: number,
  /** Their own size, headers counted. */
  size: Bytes,
  /** All reachable blocks. */
  of: number,
  /** Rows that are left out. */
  left_out: number,
};

/** A box of a nested picture. */
export type BoxRow = {
  /** What queries call it, if it is a node and there was room for its name. */
  node: string | null,
  /** Its name; empty where there was no room for it. */
  name: string,
  /** The box around it, by its place; the first is in none. */
  parent: number,
  /** What sort of node. */
  what: HeapNodeKind,
  /** Its size: what it retains. */
  retained: Bytes,
  /** The own size of its blocks; along paths, what is in no box inside it. */
  own: Bytes,
  /** Bytes outside the heap that go with what it retains, where that is known. */
  retained_external?: Bytes,
  /** How many blocks. */
  blocks: number,
  /** The block of it that retains most. */
  largest?: BlockIndex,
};

/** A number of bytes. */
export type Bytes = number;

/** A caller of a place, and its part of what was allocated there. */
export type CallerShare = {
  /** The caller. */
  place: Place,
  /** Its part, from 0 to 1. */
  share: number,
};

/** Sentences, or fragments of that length; absent where there is nothing to know. */
export type Caveats = {
  /** Why all estimates are too low. */
  estimates?: string,
  /** Why what was promoted depends on the sampling. */
  promoted?: string,
  /** What external bytes are. A recorder's own words are those of a trace that has some. */
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

/** A root, a group of blocks of a kind, or a block. */
export type ChildRow = {
  /** What queries call it. */
  node: string,
  /** Its name, or the kind of its blocks. */
  name: string,
  /** What sort of child. */
  what: HeapNodeKind,
  /** What it retains, of all that is alive. */
  share: number,
  /** Blocks of it that hang from no other of it. */
  blocks: number,
  /** Their own size, and that of the blocks of the kind below them. */
  bytes: Bytes,
  /** What it retains. */
  retained: Bytes,
  /** Bytes outside the heap that go with that. */
  retained_external: Bytes,
  /** Of blocks, the one that retains most. */
  largest: BlockIndex | null,
  /** Whether anything is below it. */
  opens: boolean,
};

/** What a node of the dominator tree alone retains. */
export type ChildrenResponse = {
  /** The node that was queried. */
  node: NodeInfo,
  /** The nodes above it, from the super-root down. */
  path: Array<NodeInfo>,
  /** What is directly below it. */
  rows: Array<ChildRow>,
  /** How many rows there are. */
  count: number,
};

/** What an owner does. */
export type Class = "grows" | "falls_behind" | "filled_once" | "comes_and_goes" | "ended" | "stage" | "follows_keys" | "undecided";

/** An owner that is no suspect. */
export type ClearedOwner = {
  /** Its name. */
  owner: string,
  /** What it does. */
  class: Class,
  /** What is attributed to it, off-heap memory included. */
  bytes: Bytes,
  /** Of all that is alive. */
  share: number,
  /** Why it is none. */
  reason: string,
};

/** What the garbage collector did in a stretch of time. Seconds and counts are sums over all domains. */
export type CollectionSpan = {
  /** Since the recording began, in seconds. */
  from: number,
  /** The same. */
  to: number,
  /** Minor collections. */
  minor_collections: number,
  /** What they took. */
  minor_seconds: number,
  /** Slices of the major collection. */
  slices: number,
  /** What they took. */
  slice_seconds: number,
  /** What all took; what ran within another is counted once. */
  seconds: number,
  /** That as a share of the time: of several domains it may exceed 1. */
  share: number,
  /** Cycles of the major collection that ended. */
  major_cycles: number | null,
  /** Compactions. */
  compactions: number | null,
  /** Whether hooks of the program's hid the collector: all but cycles and compactions is of the time before. */
  replaced: boolean,
  /** The longest ones, the longest first. */
  longest: Array<LongPause>,
};

/** What the garbage collector did. */
export type Collections = {
  /** Since the recording began. */
  whole: CollectionSpan,
  /** In stretches of time, one after the other. */
  over_time: Array<CollectionSpan>,
};

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

/** The verdict on a recording. */
export type Conclusion = {
  /** The verdict. */
  verdict: LeakVerdict,
  /** A sentence that states it. */
  description: string,
};

export type ConditionCheck = {
  canonical: string,
  description: string,
  /** The condition as the fields of a form. */
  condition: ConditionForm,
} | {
  error: ConditionProblem,
};

/** A condition and its values. */
export type ConditionForm = {
  /** [`Clause::key`]. */
  key: string,
  /** True for blocks that do not fit it. */
  not: boolean,
  values: Array<ValueForm>,
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

/**
 * The keys or values of a container. One that is there several times counts once, immediates do not
 * count.
 */
export type Contained = {
  /** How many blocks. */
  blocks: number,
  /** Their own size, headers counted. */
  bytes: Bytes,
  /** What they retain one by one. */
  retained: Bytes,
};

/** A container. */
export type ContainerRow = {
  /** All that could be saved. */
  wasted: Bytes,
  /** What it retains, of all that is retained. */
  share: number,
  /** What queries call its owner. */
  owner_node: string | null,
  /** What it is: `hashtbl`, `map` and so on. */
  structure: string,
  /** Its first block. */
  block: BlockIndex,
  /** Its type, as far as it is known. */
  type: string,
  /** Where it is: the path from a root in one line. */
  path: string,
  /** The root that it is attributed to: a variable's full name. */
  owner: string,
  /** If that is a global variable without a name, what it holds. */
  owner_holds?: string,
  /** That root's number. */
  owner_root: RootNodeId | null,
  /** Where the owner is defined, if it is a variable and that is known: `cache.ml:12`. */
  position: string | null,
  /** What it retains. */
  retained: Bytes,
  /** Bytes outside the heap that go with that. */
  retained_external: Bytes,
  /** How many entries or elements it has; none of buffers. */
  entries: number | null,
  /** How many chains of entries a hash table has room for. */
  buckets: number | null,
  /** How many of these have no entry. */
  empty_buckets: number | null,
  /** The number of entries of the longest. */
  longest_bucket: number | null,
  /** Its keys, if it has any. */
  keys: Contained | null,
  /** Its values or elements. */
  values: Contained | null,
  /** What could be saved. */
  waste: Waste,
};

/** Hash tables, maps, arrays and the like. */
export type ContainersResponse = {
  /** The rows that were queried, in their order. */
  rows: Array<ContainerRow>,
  /** How many rows there are. */
  count: number,
  /** How many containers there are; those that retain least have no rows if there are very many. */
  containers: number,
};

/** The sampled blocks of a trace against those of a snapshot. */
export type Coverage = {
  /** Sampled blocks that were alive at the snapshot by the trace: allocated before, and not reported as freed before. */
  alive: number,
  /** Of these, those that the snapshot has and something retains. */
  found: number,
  /** Those that it has and nothing retains: the next collection frees them. */
  unreachable: number,
  /** Those that it has not, and that were reported as freed later: they had been freed, the report was to come. */
  reported_later: number,
  /**
   * Those that it has not, and that were never reported as freed: the program ended or the trace was cut before that,
   * or the runtime lost them.
   */
  not_found: number,
  /**
   * Blocks that the snapshot has as sampled and that are not alive by the trace: their allocation was to be
   * written.
   */
  unwritten: number,
};

/** A snapshot that cannot be used. */
export type DamagedSnapshot = {
  /** Its number. */
  number: number,
  /** The kind of damage, and where it is. */
  reason: string,
};

/** Allocation time against lifetime: the bounds of cells, in seconds. Columns: `bytes`, `never`. */
export type DensityResponse = {
  times: Array<number>,
  lifetimes: Array<number>,
};

/** What an [`Entity`] is. */
export type EntityKind = "root" | "function" | "site" | "module";

/** What is sent in place of a response. */
export type ErrorResponse = {
  /** Why. */
  error: ApiError,
};

/** An estimate and its standard error, in the same unit. */
export type Estimate = {
  /** Estimated figure. */
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

/** What was alive over time. */
export type EvolutionResponse = {
  /** How many are analysed. */
  ready: number,
  /** How many cannot be read. */
  failed: number,
  /** Of how many. */
  of: number,
  /** The numbers of those that are analysed in part, as they are damaged. */
  partial: Array<number>,
  /** The numbers of those that are analysed. */
  snapshots: Array<number>,
  /** Live bytes. */
  total: Array<Bytes>,
  /** Bytes outside the heap that go with them. */
  external: Array<Bytes>,
  /** Parts of that, those that were largest at any time first, off-heap memory included. */
  series: Array<HeapSeries>,
  /** What is in none of the series. */
  rest: Array<Bytes>,
  /** Bytes outside the heap that are in none of the series. */
  rest_external: Array<Bytes>,
};

/** A file for another tool. Columns: `bytes`. */
export type ExportResponse = {
  filename: string,
  mime: string,
  /** Paths with fewer bytes are added to their callers'; 0 if none are. */
  least_bytes: number,
};

/** What leaks in any process of a family. */
export type FamilyLeaksResponse = {
  /** The verdict on all processes. */
  conclusion: Conclusion,
  /** Of all processes, the largest growth first. */
  suspects: Array<ProcessSuspect>,
  /** What was found in each process in which leaks can be looked for. */
  processes: Array<ProcessLeaks>,
  /** The way to more evidence, if there is too little on one of them. */
  advice?: string,
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

/** A container that a path leads through. */
export type FoldedContainer = {
  /** What it is: `hashtbl`, `map` and so on. */
  structure: string,
  /** How many entries or elements it has. */
  entries: number,
  /** Its keys, if it has any. */
  keys: Contained | null,
  /** Its values or elements. */
  values: Contained,
  /** How many blocks of it the path leads over. */
  blocks: number,
};

/** A place in the source, as exact as it is known. */
export type FunctionPlace = {
  /** The source file. */
  file: string,
  /** The line, or the first one where the function may begin. */
  line: number | null,
  /** The column in that line, from 0. */
  column?: number,
  /** Of several lines where the function may begin, the last one; without it, that is unknown. */
  last_line?: number,
  /**
   * How it is known: `cmt`, of the file that the compiler wrote of the unit, and `start`, of debug information, are
   * exact; `first call` is the first line in the function that calls or allocates; `neighbours` are lines between which
   * the function begins, by those before and behind it in the program's code; `class` are lines of methods of the class
   * that the compiler made the function for; `unit` is the file of its unit.
   */
  derivation: string,
};

/** How something grows. */
export type GrowthRate = {
  /** Bytes a second. */
  rate: Estimate,
  /** Since when, in seconds since the start; 0 if since then. */
  since: number,
  /** Bytes by which it grew since. */
  grown: number,
  /** Until when, if the program has allocated hardly anything since. */
  until: number | null,
  /**
   * Evidence of it: exact `snapshots`, `samples`, `sizes` of blocks that replaced each other, or `threads` that were started
   * and have not ended.
   */
  from: string,
};

/** What grew from each snapshot to the next. */
export type GrowthResponse = {
  /** What grew most first. */
  rows: Array<GrowthRow>,
  /** How many are analysed. */
  ready: number,
  /** How many cannot be read. */
  failed: number,
  /** Of how many. */
  of: number,
  /** The numbers of those that are analysed in part, as they are damaged. */
  partial: Array<number>,
  /** The numbers of those that are analysed. */
  snapshots: Array<number>,
};

/** What grew, from snapshot to snapshot. */
export type GrowthRow = {
  /** Its name: of a kind of block, or of a root. */
  name: string,
  /** Whether it is a root. */
  is_root: boolean,
  /** The kind of root, of a root. */
  kind: string | null,
  /** Of a global variable without a name, what it holds in the last snapshot, where that was looked for. */
  holds?: string,
  /** By how much it grew, off-heap memory included, as [`Trend::growth`] says. */
  grown: Bytes,
  /** Its bytes in each snapshot: a kind's own size, what a root owns or retains. */
  bytes: Array<Bytes>,
  /** Bytes outside the heap that go with that, in each snapshot. */
  external: Array<Bytes>,
  /** By how much its bytes grew, of all live bytes in the last snapshot. */
  share: number,
  /** The same with off-heap memory in both. */
  share_with_external: number,
};

/** A kind of block or a root in two snapshots. */
export type HeapChange = {
  /** Its name. */
  name: string,
  /** The variable's name in the earlier snapshot, if its module was renamed. */
  renamed_from?: string,
  /** The kind of root, of a root. */
  kind: string | null,
  /** Of a global variable without a name, what it holds in the later snapshot, where that was looked for. */
  holds?: string,
  /** Blocks before and after; of roots, not counted. */
  blocks: [number, number] | null,
  /** Bytes before and after: a kind's own size, what a root owns or retains. */
  bytes: [Bytes, Bytes],
  /** Bytes outside the heap that go with that, before and after. */
  external: [Bytes, Bytes],
  /** By how much its bytes changed, of all live bytes in the snapshot where these are more. */
  share: number,
  /** The same with off-heap memory in both. */
  share_with_external: number,
};

/** What changed between two snapshots. */
export type HeapDiffResponse = {
  /** By kind of block. */
  kinds: Array<HeapChange>,
  /** By root, what it retains: labels of the same kind and names are one. */
  roots: Array<HeapChange>,
  /** By root with parts, what several of these retain jointly; a whole kind has no name. */
  joint: Array<HeapChange>,
  /** By owner, what is attributed to it: the sum is that of all that is alive. */
  owners: Array<HeapChange>,
  /** What is too small to be compared. */
  unknown: HeapDiffUnknown,
  /** Live bytes before and after. */
  bytes: [Bytes, Bytes],
  /** Bytes outside the heap that go with them, before and after. */
  external: [Bytes, Bytes],
  /** Live blocks before and after. */
  blocks: [number, number],
};

/**
 * Up to which size nothing is known of what is not among the changes, before and after: of a snapshot with very many kinds,
 * roots or owners the largest are kept. 0 if all are.
 */
export type HeapDiffUnknown = {
  /** Of kinds of block. */
  kinds: [Bytes, Bytes],
  /** Of roots, and of what several retain jointly. */
  roots: [Bytes, Bytes],
  /** Of owners. */
  owners: [Bytes, Bytes],
};

/** The retaining paths from a node down, as nested boxes. */
export type HeapFlameResponse = {
  /** The node that was queried. */
  node: NodeInfo,
  /** The nodes above it, from the super-root down. */
  path: Array<NodeInfo>,
  /** The size of the first box. */
  total: Bytes,
  /** The boxes, parents before their children. */
  boxes: Array<BoxRow>,
};

/** Sorts of nodes in the dominator tree merged by shape. */
export type HeapNodeKind = "holder" | "group" | "block" | "rest";

/** A part of what was alive. */
export type HeapSeries = {
  /** Its name. */
  name: string,
  /** The kind of root, of a root. */
  kind: string | null,
  /** Of a global variable without a name, what it holds, where that was looked for. */
  holds?: string,
  /** Bytes in each snapshot. */
  bytes: Array<Bytes>,
  /** Bytes outside the heap that go with them. */
  external: Array<Bytes>,
};

/** How much there is of each kind of block. */
export type HistogramResponse = {
  /** The kinds. */
  rows: Array<HistogramRow>,
  /** How many rows there are. */
  count: number,
  /** Blocks that something retains. */
  blocks: number,
  /** Their size. */
  bytes: Bytes,
  /** Bytes outside the heap that go with them. */
  external: Bytes,
  /** Blocks that nothing retains and that are not freed yet; unknown of a damaged snapshot. */
  unreachable_blocks: number | null,
  /** Their size. */
  unreachable_bytes: Bytes | null,
};

/** A kind of block. */
export type HistogramRow = {
  /** Its own size, of all that is alive. */
  share: number,
  /** The block that retains most where most of the kind is. */
  example: BlockIndex | null,
  /** Where most of the kind is, unless that is not shown separately. */
  most: KindPlace | null,
  /** What sort of block: a type or a kind. */
  kind: string,
  /** How the type was found, if it is one. */
  derivation: string | null,
  /** Of custom blocks, their identifier as the runtime has it. */
  identifier?: string,
  /** Of closures, where their function is. */
  function?: FunctionPlace,
  /** How many. */
  blocks: number,
  /** Their own size, headers counted. */
  bytes: Bytes,
  /** Bytes outside the heap that go with them. */
  external: Bytes,
  /** Of memory outside the heap that blocks share: how many do, as all views of a bigarray do. */
  shared_by?: number,
  /**
   * What they retain one by one: the sum over those that no other of the kind dominates, so that
   * nothing counts twice, without what several of them retain jointly. Of the largest kinds.
   */
  retained: Bytes | null,
  /**
   * Of blocks without a type, what allocated them, the largest part first: what a caller that knows a
   * trace has put here.
   */
  allocated?: Array<AllocatedPart>,
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

/** What several roots retain jointly: shares, the blocks of one, or the references to cut of a block. */
export type JointResponse = {
  /** The rows that were queried. */
  rows: Array<JointRow>,
  /** How many rows there are. */
  count: number,
};

/** What is retained jointly, a block of it, or a reference that has to be cut. */
export type JointRow = {
  /** What sort of row. */
  what: JointWhat,
  /** What queries call it: for rows below it, a root node or a block. */
  node: string,
  /** What it is. */
  name: string,
  /** Of a share, the kind of roots. */
  kind: string | null,
  /** Of a share, what comparisons of snapshots call the root whose parts have it. */
  stored_name: string | null,
  /** Of a block: who reaches it, and how many references have to be cut. */
  place: string,
  /** What it retains; none of references. */
  retained: Bytes | null,
  /** Bytes outside the heap that go with that. */
  retained_external: Bytes,
  /** What it retains, of all that is retained. */
  share: number,
  /** The block, if it is one, or the one that has the reference. */
  block: BlockIndex | null,
  /** What allocated most blocks in the same place, if it is a block without a type and that is known. */
  allocated?: AllocatedBy,
  /** Whether there are rows below it. */
  opens: boolean,
};

/** What sort of row. */
export type JointWhat = "share" | "block" | "cut";

/** What hangs at a place of the dominator tree of a kind. */
export type KindPlace = {
  /** What queries call it. */
  node: string,
  /** The size of the blocks there. */
  bytes: Bytes,
  /** How many. */
  blocks: number,
};

/** The verdict, as programs read it. */
export type LeakVerdict = "leaks" | "undecided" | "no_leak";

/** What leaks, as far as the recording shows. */
export type LeaksResponse = {
  /** The verdict on the recording. */
  conclusion: Conclusion,
  /** Suspects, the largest growth first. */
  suspects: Array<Suspect>,
  /** Suspects that the limit left out. */
  left_out: number,
  /** The largest of the other owners, with what speaks for them. */
  cleared: Array<ClearedOwner>,
  /** What was looked at and found, one after the other. */
  summary: Array<string>,
  /** How many owners there are, or call sites if there are no snapshots. */
  owners: number,
  /** All that is alive, off-heap memory included; without snapshots, all that is not freed. */
  alive: Bytes,
  /** Of what time, in seconds. */
  seconds: number,
  /** Snapshots that were looked at. */
  snapshots: number,
  /** The number of all snapshots up to the last of these, if there are more: then some at even steps of the work are judged. */
  snapshots_taken?: number,
  /** Sampled blocks that are alive. */
  sampled: number,
  /** What owners own of whose blocks too few were sampled to judge whether they grow. */
  unjudged: Bytes,
  /** The part of that to which nothing refers any more in the last snapshot, although collections had not freed it. */
  unowned: Bytes,
  /** The part of that which was allocated after the last snapshot, and stayed until the end. */
  after_last: Bytes,
  /** Of native programs whose references were looked for: the blocks to which none leads. */
  unreachable?: UnreachableResponse,
  /** Why references were not found, although they were looked for: blocks may be unreachable. */
  unexamined?: string,
  /** Bytes that were kept for long and freed shortly before the last snapshot, where no earlier one shows who had them. */
  freed_at_end?: Bytes,
  /** Memory that the end of the program freed, if the verdict was made before that. */
  teardown?: Teardown,
  /** Memory that grows and that the recording tells nothing of. */
  unrecorded?: Unrecorded,
  /** Snapshots that are damaged, each with the reason: sizes in them were not used. */
  damaged?: Array<DamagedSnapshot>,
  /** Why samples are missing, in words: what was not written may leak. */
  incomplete?: string,
};

/** Some rows, and how many there are. */
export type Listed<T> = {
  /** How many there are. */
  count: number,
  /** Some of them. */
  rows: Array<T>,
};

/** One of the longest pauses. */
export type LongPause = {
  /** What ran, in words. */
  part: string,
  /** How long. */
  seconds: number,
  /** When it ended, since the recording began. */
  at: number,
};

/** What memory from `malloc` is in use for. `allocators` and `rest` add up to what the allocator counts. */
export type MallocUse = {
  /** The largest first. */
  allocators: Array<AllocatorUse>,
  /** Bytes that samples do not explain. */
  rest: number,
  /** Estimated bytes that the program asked for, of all call sites. */
  asked: number,
  /** Standard error of `asked`. */
  asked_stderr: number,
};

/** What a part of resident memory is used for. */
export type MemoryPart = {
  /** What for, in words. */
  name: string,
  /** The same for programs: `malloc-used`. */
  kind: string,
  /** Bytes over time. */
  bytes: Array<number>,
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

/** A function of the program's own whose closures have to do with what a library allocated. */
export type NearestClosure = {
  /** The function. */
  place: Place,
  /** Whether they are on the retaining paths, not below. */
  retains: boolean,
};

/** A node of the dominator tree. */
export type NodeInfo = {
  /** What queries call it. */
  node: string,
  /** What it is shown as. */
  name: string,
  /** Bytes that would be freed without it. */
  retained: Bytes,
  /** Bytes outside the heap that go with that. */
  retained_external: Bytes,
  /** Of the node that a response is about, how many blocks it has. */
  blocks?: number,
};

/** Memory over time. Columns: `time`, `minor`, `major`, `external`, `most`, `selected`. */
export type OverviewResponse = {
  /** Of the whole recording. */
  total: Sums,
  /** Of what the filter keeps. */
  selected: Sums,
};

/** A root and what is attributed to it. */
export type OwnerFigures = {
  /** What queries call it. */
  node: string,
  /** The kind of root. */
  kind: string,
  /** Its name, with those above it. */
  name: string,
  /** The variable's type, if it is one and that is known. */
  type?: string,
  /** Where the variable is defined: `cache.ml:12`. */
  position?: string,
  /** Of a global variable without a name, what it holds: `class Shop.cart`. */
  holds?: string,
  /** What of all that is reachable is attributed to it. */
  share: number,
  /** What is attributed to it. */
  owned: Bytes,
  /** Bytes outside the heap that go with that. */
  owned_external: Bytes,
  /** What would be freed without it and its aliases. */
  retained: Bytes,
  /** The block that it holds, if it is one. */
  block: BlockIndex | null,
  /** Other roots that hold the same block, and modules that it is a value of; not all of very many. */
  aliases: Array<string>,
};

/** What is attributed to all roots of a kind. */
export type OwnerKind = {
  /** Its name. */
  kind: string,
  /** What they own. */
  owned: Bytes,
  /** Bytes outside the heap that go with that. */
  owned_external: Bytes,
  /** How many there are. */
  owners: number,
};

/** A root, and what it owns of some blocks. */
export type OwnerShare = {
  /** Its name. */
  name: string,
  /** The kind of root. */
  kind: string,
  /** The variable's type, if it is one and that is known. */
  type: string | null,
  /** Where the variable is defined. */
  position: string | null,
  /** Its number. */
  root: RootNodeId,
  /** What queries call it. */
  node: string,
  /** What it owns of them. */
  alive: AliveEstimate,
  /** Of all of them. */
  share: number,
  /** One of the blocks. */
  example: BlockIndex,
};

/** All that is reachable, by owner. */
export type OwnersResponse = {
  /** The owners. */
  rows: Array<OwnerFigures>,
  /** How many rows there are. */
  count: number,
  /** All that is reachable. */
  total: Bytes,
  /** Kinds of roots that own something, those of most first. */
  kinds: Array<OwnerKind>,
};

/** Retaining paths of a block, or of the blocks of a kind. */
export type PathResponse = {
  /** As many as the query allows. */
  paths: Array<PathRow>,
  /** How many there are. */
  count: number,
  /** Of disjoint paths, whether there are no more. */
  all?: boolean,
  /** Of a kind, how many of its blocks were looked at … */
  looked_at?: number,
  /** … of how many. */
  of?: number,
};

/** A retaining path, or several of the same shape. */
export type PathRow = {
  /** From the root to the block. */
  steps: Array<PathStep>,
  /** How many blocks are retained this way. */
  blocks: number,
  /** Bytes that would be freed without them. */
  retained: Bytes,
  /** One of several blocks, whose path this is. */
  example?: BlockIndex,
};

/** Retaining paths of the same shape. */
export type PathShare = {
  /** The shape: names from the root to the block, with fields. */
  shape: Array<string>,
  /**
   * For each of these what allocated most of its blocks, where they have no type and that is known; empty if it is not
   * known of any.
   */
  allocated: Array<AllocatedBy | null>,
  /** Of all the bytes, an estimate. */
  share: number,
  /** How many sampled blocks are retained this way. */
  blocks: number,
  /** What these retain one by one. */
  retained: Bytes,
  /** All blocks that are retained this way, sampled or not. Of very many only some paths were looked at. */
  alive: AliveEstimate,
  /** One of them. */
  example: BlockIndex,
};

/** A block or root on a path, or several alike that follow each other. */
export type PathStep = {
  /** Its kind, or the variable's name. */
  name: string,
  /** The variable's type, if it is one and that is known. */
  type?: string,
  /** Where the variable is defined: `cache.ml:12`. */
  position?: string,
  /** What queries call it; none where steps are left out. */
  node: string | null,
  /** The block, if it is one. */
  block: BlockIndex | null,
  /** The field that leads on. */
  field: number | null,
  /** What that field is called, if the block's type is known: `.data`, `.(17)`. */
  field_name?: string,
  /** How many there are. */
  times: number,
  /** Whether all paths lead through it. */
  dominates: boolean,
  /** Bytes that would be freed without it. */
  retained: Bytes | null,
  /** What allocated most blocks in the same place, if it has no type and that is known. */
  allocated?: AllocatedBy,
  /** The container that it is all steps in, unless these are shown one by one. */
  container?: FoldedContainer,
};

/** When most was live, and how much. */
export type Peak = {
  time: number,
  bytes: number,
};

/** A call site of the program. */
export type Place = {
  /** The function. */
  function: string,
  /** The source file. */
  file: string | null,
  /** The line. */
  line: number | null,
};

/** How precise a name is. */
export type Precision = "site" | "function" | "module";

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

/** What was found in a process. */
export type ProcessLeaks = {
  /** Number of its recording. */
  rec: number,
  /** What that is called. */
  process: string,
  /** What was looked at, or why nothing was, in one line. */
  description: string,
  /** All that is alive. */
  alive: Bytes,
  /** How many suspects there are. */
  suspects: number,
  /** Of native programs whose references were looked for: the blocks to which none leads. */
  unreachable?: UnreachableResponse,
};

/** What was measured of the process; what was not is absent. */
export type ProcessResponse = {
  /** What its resident memory was used for. */
  memory: ResidentMemory | null,
  /** What its garbage collector did. */
  collections: Collections | null,
};

/** A suspect, and whose it is. */
export type ProcessSuspect = {
  /** Number of the process's recording. */
  rec: number,
  /** What that is called. */
  process: string,
  /** What sort of leak it looks like: `growing container`. */
  rule: string,
  /** What it does. */
  class: Class,
  /** How much, and how fast it grows. */
  heading: string,
  /** What it is, where it was allocated, what owns it. */
  descriptions: Array<string>,
  /** What is measured for these. */
  evidence: string,
  /** The roots that retain most of a call site's blocks, the largest part first. Empty if nobody looked for references. */
  retained_by?: Array<Retainer>,
  /** The function that allocated most of it, as `memtrail why` takes it. */
  next: string | null,
  /** The owner's name. */
  owner: string,
  /** Of a global variable without a name, what it holds. */
  holds?: string,
  /** The kind of root. */
  kind: string,
  /** The variable's type, if it is one and that is known. */
  type: string | null,
  /** Where the variable is defined: `cache.ml:12`. */
  position: string | null,
  /** What queries call it. */
  node: string,
  /** What is attributed to it. */
  owned: Bytes,
  /** Bytes outside the heap that go with that. */
  owned_external: Bytes,
  /** Of all that is alive. */
  share: number,
  /** How it grows. */
  growth: GrowthRate,
  /** Entries of the container that retains most of it. */
  entries: number | null,
  /** The kind of what is in the container, or of most blocks. */
  values: string | null,
  /** What allocated most of these, if they have no type and that is known. */
  values_allocated: AllocatedBy | null,
  /** The nearest call of the program's own to the allocation of most of it, and its callers. */
  allocated: Array<Place>,
  /** Callers of the place that allocated most of it, with their shares of that; the largest first. */
  callers: Array<CallerShare>,
  /** The program's own closures that are nearest to it, if a library allocated it from its event loop. */
  closure: NearestClosure | null,
  /** What part of it was allocated there. */
  allocated_share: number,
  /** Where entries are added to the container, if that is known. */
  added: Place | null,
  /** Sampled cells of the container from before the last tenth of the work that are alive; of call sites, blocks. */
  alive: number,
  /** Those that were freed. */
  freed: number,
};

/** An end of a range. */
export type RangeEnd = string | number | {
  us: number,
} | {
  ppm: number,
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
  /** Whether the program frees its memory itself. */
  is_native: boolean,
  /** Whether its calls of `malloc` are in the trace beside what the collector frees. */
  has_malloc: boolean,
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
  subsampled: Subsampled | null,
  /** Of all processes of a family together: the numbers of the recordings of each alone. */
  members: Array<number>,
  /** Number of heap snapshots. */
  snapshots: number,
  /** Whether there is an allocation trace; a snapshot may be there without one. */
  trace: boolean,
  /** Whether allocations could not be recorded at all; a note says why. */
  impossible: boolean,
  /** Whether the program runs and can be asked for a snapshot. */
  can_snapshot: boolean,
  trace_bytes: number,
  events: number,
  blocks_recorded: number,
  totals: Totals,
};

/** State of a recording. */
export type RecordingState = "growing" | "ended" | "cut" | "lost";

/** A pointer from a block. */
export type ReferenceRow = {
  /** The field; of keys of ephemerons it is not known. */
  field: number | null,
  /** What it points to. */
  block: BlockIndex,
  /** What sort of block that is. */
  kind: string,
  /** Bytes that would be freed without that block. */
  retained: Bytes,
  /** Whether it retains nothing. */
  weak: boolean,
};

/** A pointer to a block. */
export type ReferrerRow = {
  /** The number of a block. */
  block: BlockIndex | null,
  /** The field of a block; of keys of ephemerons it is not known. */
  field: number | null,
  /** Whether it retains nothing. */
  weak: boolean,
  /** What queries call it. */
  node: string,
  /** What it is shown as. */
  name: string,
  /** Bytes that would be freed without it. */
  retained: Bytes,
  /** Bytes outside the heap that go with that. */
  retained_external: Bytes,
  /** Of the node that a response is about, how many blocks it has. */
  blocks?: number,
};

/** Resident memory over time: all columns have the length of `seconds`. */
export type ResidentMemory = {
  /** Since the recording began, ascending. */
  seconds: Array<number>,
  /** By the kernel's counter, in bytes. */
  rss: Array<number>,
  /** Seconds of CPU time of the process since the recording began; none if they were not recorded. */
  cpu_seconds: Array<number>,
  /** What for; together about `rss`. */
  parts: Array<MemoryPart>,
  /** What would return memory at the end, in words. */
  advice: Array<string>,
  /** Of the parts, what `malloc` has in use at the end, if the calls of it are recorded. */
  malloc_in_use: number | null,
  /** What that is for, by samples. */
  malloc: MallocUse | null,
};

/** A variable, a stack, or thread-local data that retains a part of the blocks of a call site. */
export type Retainer = {
  /** Its name: `variable table (cache.c:9)`. */
  name: string,
  /** The part that it retains, from 0 to 1. */
  share: number,
};

/** A root, or what several roots retain jointly. */
export type RootFigures = {
  /** What queries call it. */
  node: string,
  /** `global`, `stack` and so on. */
  kind: string,
  /** Its own name. */
  name: string | null,
  /** Names from the coarsest to its own. */
  path: Array<string>,
  /** What comparisons of snapshots call it; of what is retained jointly, the root whose parts retain it. */
  stored_name: string,
  /** The variable's type, if it is one and that is known. */
  type?: string,
  /** Where the variable is defined: `cache.ml:12`. */
  position?: string,
  /** What it retains, of all that is alive. */
  share: number,
  /** Bytes that would be freed without it. */
  retained: Bytes,
  /** Bytes outside the heap that go with what it retains. */
  retained_external: Bytes,
  /** Bytes of all blocks that it leads to. */
  reachable: Bytes,
  /** What is reachable from it and from others. */
  shared: Bytes,
  /** Labels directly below it. */
  below: number,
  /** Whether it is what several parts of a root retain jointly. */
  is_joint: boolean,
};

/** Sums of all roots of a kind. */
export type RootKindFigures = {
  /** What queries call it. */
  node: string,
  /** Its name. */
  kind: string,
  /** What nothing else retains. */
  retained: Bytes,
  /** Bytes outside the heap that go with that. */
  retained_external: Bytes,
  /** All that is reachable from it, whatever else reaches it, too. */
  reachable: Bytes,
  /** What is reachable from it and from others. */
  shared: Bytes,
  /** How many labels are of the kind. */
  labels: number,
};

/** A node that is no block: a place among [`RootNodes`]. */
export type RootNodeId = number;

/** Roots, by what they retain. */
export type RootsResponse = {
  /** The rows that were queried, in their order. */
  rows: Array<RootFigures>,
  /** How many rows there are. */
  count: number,
  /** All that is alive. */
  total: Bytes,
  /** The kinds of roots that retain something. */
  kinds: Array<RootKindFigures>,
};

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

/** A box: blocks whose paths begin in the same way. */
export type SampledBox = {
  /** The box that it is in: one of those before it. */
  parent: number,
  /** What the path leads on to here. */
  name: string,
  /** What filters call it, if it is a function or a call site. */
  key: string | null,
  /** Where it is in the source: `cache.ml:41`. */
  place: string | null,
  /** Bytes of all blocks, sampled or not: an estimate. */
  bytes: number,
  /** How many blocks were sampled. */
  sampled: number,
  /** When the first and the last of these were allocated, in seconds since the start. */
  allocated: [number, number],
  /** One of them. */
  example: BlockIndex,
};

/** The places in the program whose blocks take up or retain most. */
export type SamplesResponse = {
  /** How many blocks of the snapshot were sampled and are in the trace. */
  sampled: number,
  /** How many of them nothing retains: they are collected soon. */
  unreachable: number,
  /** How many blocks of the snapshot were sampled and are not in the trace. */
  unknown: number,
  /** Whether all blocks that are alive by the trace were found; absent if it is unknown when the snapshot was taken. */
  coverage: Coverage | null,
  /**
   * Bytes of all blocks that are alive, estimated from the sampled ones. The snapshot has the exact
   * number, without those whose allocation was before the recording or was not sampled at all.
   */
  alive: Estimate,
  /** The places. */
  rows: Array<SiteRow>,
  /** How many rows there are. */
  count: number,
  /** Rows that are left out. */
  left_out: number,
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

/** What two root nodes have in common. */
export type SharedResponse = {
  /** Their names. */
  names: [string, string],
  /** What each retains. */
  retained: [Bytes, Bytes],
  /** What each reaches. */
  reachable: [Bytes, Bytes],
  /** What both reach. */
  common: Bytes,
};

/** A place in the program, with its sampled blocks that are alive. */
export type SiteRow = {
  /** What filters call it. */
  key: string | null,
  /** What it is shown as. */
  name: string,
  /** Its module. */
  module: string | null,
  /** The source file. */
  file: string | null,
  /** From 1; 0 if unknown. */
  line: number | null,
  /** Number of the function or site, if it is one. */
  entity: number | null,
  /**
   * Bytes of all its blocks that are alive, sampled or not, and of memory off the heap that they own: an
   * estimate.
   */
  alive: Estimate,
  /** Number of all its blocks that are alive, sampled or not: an estimate. Memory off the heap counts as a block. */
  alive_blocks: Estimate,
  /** Its bytes, of all that is alive, off-heap memory included. */
  share: number,
  /** How many sampled blocks. */
  blocks: number,
  /** Their own size. */
  bytes: Bytes,
  /** Bytes that would be freed without them. */
  retained: Bytes,
  /** The block that retains most. */
  example: BlockIndex | null,
  /** The most frequent kinds of the blocks. */
  kinds: Array<string>,
};

/** What a call site has in use. */
export type SiteUse = {
  /** Function, file and line, as far as they are known. */
  site: string,
  /** Bytes of what the allocator counts. */
  bytes: number,
  /** Estimated bytes that it asked for. */
  asked: number,
  /** Standard error of `asked`. */
  asked_stderr: number,
};

/** A snapshot as the page lists it. */
export type SnapshotRow = {
  /** Its number within the recording. */
  number: number,
  /** Why it was taken. */
  reason: string,
  /** The name that the program gave it. */
  label: string | null,
  /** When it was taken, in seconds since the recording's start. */
  at: number | null,
  /** How long the program paused, in seconds. */
  pause: number,
  /** Bytes that the runtime has taken for the major heap; 0 if unknown. */
  heap: number,
  /** Bytes that are alive, if it is analysed. */
  live: Bytes | null,
  /** What of that is in the major heap, whose size is `heap`. */
  live_in_heap: Bytes | null,
  /** Blocks in the file. */
  blocks: number,
  /** Size of the file. */
  file_bytes: number,
  /** Major collections there had been. */
  major: number | null,
  /** Minor collections there had been. */
  minor: number | null,
  /** Whether it is analysed. */
  analysed: boolean,
  /** Whether strings' contents were written. */
  contents: boolean,
  /** Whether all of it is there, or its summary only. */
  included: boolean,
  /** What is wrong with it: figures are of a part of it. */
  damage: string | null,
  /** Whether there are figures, or will be. */
  readable: boolean,
};

/** What snapshots there are. */
export type SnapshotsResponse = {
  /** In the order they were taken. */
  snapshots: Array<SnapshotRow>,
  /** Whether another can be taken now. */
  can_take: boolean,
  /** The reason why none can be taken. */
  why_not: string | null,
};

/**
 * Lines of a source file. Columns, of each line: `total`, `stderr` and `own`, in bytes; `live`, what of the total
 * was never collected.
 */
export type SourceTextResponse = {
  /** The file's name below the folder that it was found in. */
  name: string,
  /** Its path, for an editor. */
  path: string | null,
  /** Why there are no lines. */
  missing: string | null,
  /** Whether the file was changed after the recording began: lines may not be those that were compiled. */
  changed: boolean,
  /** The number of the first of these lines, from 1. */
  first: number,
  /** How many lines the file has. */
  count: number,
  lines: Array<string>,
};

/** What each stack frame retains. */
export type StackResponse = {
  /** Threads, with their frames, with their slots. */
  rows: Array<StackRow>,
  /** How many rows there are. */
  count: number,
};

/** A thread, a frame or a slot. */
export type StackRow = {
  /** How deep it is in thread, frame, slot; 0 for a thread. */
  depth: number,
  /** Whether anything is below it. */
  opens: boolean,
  /** What queries call it. */
  node: string,
  /** `global`, `stack` and so on. */
  kind: string,
  /** Its own name. */
  name: string | null,
  /** Names from the coarsest to its own. */
  path: Array<string>,
  /** What comparisons of snapshots call it; of what is retained jointly, the root whose parts retain it. */
  stored_name: string,
  /** The variable's type, if it is one and that is known. */
  type?: string,
  /** Where the variable is defined: `cache.ml:12`. */
  position?: string,
  /** What it retains, of all that is alive. */
  share: number,
  /** Bytes that would be freed without it. */
  retained: Bytes,
  /** Bytes outside the heap that go with what it retains. */
  retained_external: Bytes,
  /** Bytes of all blocks that it leads to. */
  reachable: Bytes,
  /** What is reachable from it and from others. */
  shared: Bytes,
  /** Labels directly below it. */
  below: number,
  /** Whether it is what several parts of a root retain jointly. */
  is_joint: boolean,
};

/** A string that is there several times. */
export type StringRow = {
  /** What all but one of them take up, of all strings. */
  share: number,
  /** How it starts, as OCaml writes it, without the quotes. */
  start: string,
  /** Whether there is more of it. */
  cut: boolean,
  /** Its length in bytes. */
  length: number,
  /** How often it is there. */
  times: number,
  /** What all but one of them take up, headers counted. */
  wasted: Bytes,
  /** One of them. */
  example: BlockIndex,
};

/** Sums of all strings. */
export type StringTotals = {
  /** How many of the repeated strings are in the table. */
  kept: number,
  /** Strings that are reachable. */
  strings: number,
  /** Their size, headers counted. */
  bytes: Bytes,
  /** Their contents' length: without headers and padding. */
  contents: Bytes,
  /** What of their size could be saved if each were there once. */
  wasted: Bytes,
  /** How many different ones are there several times. */
  repeated: number,
};

/** Strings that are there several times. */
export type StringsResponse = {
  /** Sums of all strings; none where the snapshot has no contents. */
  strings: StringTotals | null,
  /** The rows that were queried, in their order. */
  rows: Array<StringRow>,
  /** How many rows there are. */
  count: number,
};

/** How much subsampling left. */
export type Subsampled = {
  /** Recorded blocks that are left. */
  kept: number,
  /** Recorded blocks there were. */
  of: number,
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

/** What a place in the program allocated, and what became of it between the snapshots. */
export type SurvivorRow = {
  /** What filters call it. */
  key: string | null,
  /** What it is shown as. */
  name: string,
  /** Its module. */
  module: string | null,
  /** The source file. */
  file: string | null,
  /** From 1; 0 if unknown. */
  line: number | null,
  /** Number of the function or site, if it is one. */
  entity: number | null,
  /** Alive in both. */
  survived: AliveEstimate,
  /** Alive in the earlier one alone. */
  freed: AliveEstimate,
  /** Alive in the later one alone. */
  added: AliveEstimate,
  /** What part of the bytes that were alive in the earlier one survived, from 0 to 1; none if there were none. */
  survival: number | null,
};

/** What survived from one snapshot to another. */
export type SurvivorsResponse = {
  /** The number of the earlier snapshot; those of several processes have other numbers and times. */
  from: number,
  /** That of the later one. */
  to: number,
  /** When the earlier one was taken, in seconds since the recording's start. */
  from_at: number,
  /** When the later one was. */
  to_at: number,
  /** All that was alive in the earlier one and is in the later one. */
  survived: AliveEstimate,
  /** All that was alive in the earlier one and is not in the later one. */
  freed: AliveEstimate,
  /** All that is alive in the later one and was not in the earlier one. */
  added: AliveEstimate,
  /** Sampled blocks of both snapshots that the trace does not have. */
  unknown: number,
  /** The places that allocated it. */
  rows: Array<SurvivorRow>,
  /** How many rows there are. */
  count: number,
  /** Rows that are left out. */
  left_out: number,
};

/** An owner that grows. */
export type Suspect = {
  /** What sort of leak it looks like: `growing container`. */
  rule: string,
  /** What it does. */
  class: Class,
  /** How much, and how fast it grows. */
  heading: string,
  /** What it is, where it was allocated, what owns it. */
  descriptions: Array<string>,
  /** What is measured for these. */
  evidence: string,
  /** The roots that retain most of a call site's blocks, the largest part first. Empty if nobody looked for references. */
  retained_by?: Array<Retainer>,
  /** The function that allocated most of it, as `memtrail why` takes it. */
  next: string | null,
  /** The owner's name. */
  owner: string,
  /** Of a global variable without a name, what it holds. */
  holds?: string,
  /** The kind of root. */
  kind: string,
  /** The variable's type, if it is one and that is known. */
  type: string | null,
  /** Where the variable is defined: `cache.ml:12`. */
  position: string | null,
  /** What queries call it. */
  node: string,
  /** What is attributed to it. */
  owned: Bytes,
  /** Bytes outside the heap that go with that. */
  owned_external: Bytes,
  /** Of all that is alive. */
  share: number,
  /** How it grows. */
  growth: GrowthRate,
  /** Entries of the container that retains most of it. */
  entries: number | null,
  /** The kind of what is in the container, or of most blocks. */
  values: string | null,
  /** What allocated most of these, if they have no type and that is known. */
  values_allocated: AllocatedBy | null,
  /** The nearest call of the program's own to the allocation of most of it, and its callers. */
  allocated: Array<Place>,
  /** Callers of the place that allocated most of it, with their shares of that; the largest first. */
  callers: Array<CallerShare>,
  /** The program's own closures that are nearest to it, if a library allocated it from its event loop. */
  closure: NearestClosure | null,
  /** What part of it was allocated there. */
  allocated_share: number,
  /** Where entries are added to the container, if that is known. */
  added: Place | null,
  /** Sampled cells of the container from before the last tenth of the work that are alive; of call sites, blocks. */
  alive: number,
  /** Those that were freed. */
  freed: number,
};

/**
 * Rows of a table. Columns: `total`, `self`, `live`, `blocks`, `lifetime`, `share`; where rows are compared with a
 * baseline, also `before`, its total, and `status`, the place of the change in `statuses`.
 */
export type TableResponse = {
  rows: Array<RowName>,
  /** Rows there are, of which these may be only some. */
  count: number,
  /** What the numbers in the column of statuses mean; empty without a baseline. */
  statuses: Array<ChangeStatus>,
};

/** That the program has been asked. */
export type TakeSnapshotResponse = {
  asked: boolean,
};

/** Memory that the end of a program freed. */
export type Teardown = {
  /** When the verdict was made, in seconds since the start: before the program ended. */
  judged_at: number,
  /** Bytes that were alive then. */
  alive: Bytes,
  /** Bytes of these that were freed until the end. */
  freed: Bytes,
  /** The snapshot by which it was made, if that is not the last one. */
  snapshot: number | null,
};

/**
 * A flame graph in the order of time. Columns: `down_parent`, `down_entity`, `down_left`,
 * `down_right`, `down_bytes`, `down_more`; lefts and rights are seconds, or bytes allocated before.
 */
export type TimeOrderResponse = {
  /** Bytes of all that the filter keeps. */
  total: number,
  focus_bytes: number,
  /** Seconds, or bytes, of the whole width. */
  extent: number,
};

/** Sums over everything recorded. */
export type Totals = {
  allocated: Estimate,
  blocks: number,
  /** Bytes never collected. */
  live_end: number,
  peak: Peak,
};

/** What a node retains, as nested boxes. */
export type TreemapResponse = {
  /** The node that was queried. */
  node: NodeInfo,
  /** The nodes above it, from the super-root down. */
  path: Array<NodeInfo>,
  /** The boxes, parents before their children. */
  boxes: Array<BoxRow>,
};

/** What is unreachable, by call site. */
export type UnreachableResponse = {
  /** When references were looked for, in seconds since the start. */
  at: number,
  /** References were found by a conservative scan: always `true`. */
  conservative: boolean,
  /** What is reachable from variables, stacks, thread-local variables and OCaml's heap. */
  reachable: BlocksEstimate,
  /** What is referred to from garbage of OCaml's heap alone: finalisers free it when that is collected. */
  garbage: BlocksEstimate,
  /** What is referred to from memory of unknown use alone. */
  elsewhere: BlocksEstimate,
  /** What nothing refers to but blocks that are unreachable themselves. */
  unreachable: BlocksEstimate,
  /** The call sites of these, those of most bytes first. */
  sites: Array<UnreachableSite>,
  /** How many call sites there are. */
  count: number,
  /** What was found, in a sentence. */
  summary: string,
};

/** Unreachable blocks that were allocated by the same calls. */
export type UnreachableSite = {
  /** How much, and how that was found. */
  heading: string,
  /** Where it was allocated, and what refers to it after all. */
  descriptions: Array<string>,
  /** The call that allocated, and its callers. */
  allocated: Array<Place>,
  /** All of them. */
  unreachable: BlocksEstimate,
  /** Those of them to which nothing refers at all. */
  direct: BlocksEstimate,
};

/** Memory that grows and that the recording tells nothing of. */
export type Unrecorded = {
  /** What it is, in words. */
  part: string,
  /** How much there is at the end. */
  bytes: Bytes,
  /** Of resident memory at the end. */
  share: number,
  /** False if it was measured too seldom to judge if it grows. */
  grows: boolean,
  /** The option of `memtrail run` that records it. */
  option: string,
  /** All of that, in a sentence. */
  description: string,
};

/** One of the values of which any will do. */
export type ValueForm = {
  mode: ValueMode,
  /** The name, the word, or the end of the range that is given, in its text form; of a range, the lower one. */
  a: string,
  /** The upper end of a range with two. */
  b: string,
  /** The range's ends, where it has them. */
  from: RangeEnd | null,
  to: RangeEnd | null,
};

/** The kind of a value: which fields it has. */
export type ValueMode = "at" | "between" | "from" | "to" | "never" | "equals" | "contains" | "regex" | "word";

/** What could be saved in a container. */
export type Waste = {
  /**
   * Room of hash tables for entries that are not there, and elements at the end of an array that are all the
   * same.
   */
  empty: Bytes,
  /** Keys and values that are floats or other numbers in blocks of their own. */
  boxed: Bytes,
  /** Strings among keys and values that are there several times; unknown if the snapshot has no contents. */
  duplicates: Bytes | null,
};

/** Which calls allocated some blocks. */
export type WhoResponse = {
  /** What is meant: `owner`, `type`, `kind` or `node`. */
  of: string,
  /** The names of these. */
  names: Array<string>,
  /** The size of the blocks, exactly. */
  size: Bytes,
  /** Bytes outside the heap that go with them. */
  external: Bytes,
  /** The same, as the samples have it: less, if there were blocks before the recording began to sample. */
  alive: AliveEstimate,
  /** The places in the program that allocated them, those of most first. */
  rows: Array<AllocatorRow>,
  /** How many rows there are. */
  count: number,
  /** Rows that are left out. */
  left_out: number,
  /** The calls as nested boxes, from the program's entry to what allocated, if the query wants any. */
  boxes: Array<SampledBox>,
};

/** What retains what a function allocated. */
export type WhyResponse = {
  /** The functions that are meant. */
  names: Array<string>,
  /** Whether they are on the callstacks of allocations, but allocate nothing that is alive themselves. */
  are_callers: boolean,
  /**
   * Whether they are closures of these functions instead, all that the snapshot has: nothing that the functions allocated
   * is alive and sampled. The figures are exact then.
   */
  are_closures: boolean,
  /** What of it is alive. */
  alive: AliveEstimate,
  /** Its share of all that is alive, in one process. */
  share: number,
  /**
   * Whether all blocks that are alive by the trace, of any function, were found in the snapshot; absent if it is
   * unknown when that was taken.
   */
  coverage: Coverage | null,
  /** The roots that own it, those of most first. */
  owners: Array<OwnerShare>,
  /** How many owners there are. */
  owner_count: number,
  /** Owners that are left out. */
  left_out: number,
  /** The paths by which it is retained, those of the same shape as one, the most frequent first. */
  paths: Array<PathShare>,
  /** All paths as nested boxes, if the query wants any. */
  boxes: Array<SampledBox>,
};

/** The response to each query, by the query's name. */
export type Responses = {
  about: AboutResponse,
  branches: TableResponse,
  compare: CompareTableResponse | CompareFlameResponse,
  complete: CompleteResponse,
  conditions: ConditionsResponse,
  density: DensityResponse,
  evolution: EvolutionResponse,
  export: ExportResponse,
  familyleaks: FamilyLeaksResponse,
  flame: FlameResponse,
  heapblock: BlockResponse,
  heapblocks: BlocksResponse,
  heapchildren: ChildrenResponse,
  heapcontainers: ContainersResponse,
  heapdiff: HeapDiffResponse,
  heapflame: HeapFlameResponse,
  heapgrowth: GrowthResponse,
  heaphistogram: HistogramResponse,
  heapjoint: JointResponse,
  heapleaks: LeaksResponse,
  heapowners: OwnersResponse,
  heappath: PathResponse,
  heaproots: RootsResponse,
  heapsamples: SamplesResponse,
  heapshared: SharedResponse,
  heapstack: StackResponse,
  heapstrings: StringsResponse,
  heapsurvivors: SurvivorsResponse,
  heaptreemap: TreemapResponse,
  heapwho: WhoResponse,
  heapwhy: WhyResponse,
  hotfragments: HotFragmentsResponse,
  names: NamesResponse,
  overview: OverviewResponse,
  presets: PresetsResponse,
  process: ProcessResponse,
  search: SearchResponse,
  siteleaks: LeaksResponse,
  snapshots: SnapshotsResponse,
  sourcetext: SourceTextResponse,
  table: TableResponse,
  timeorder: TimeOrderResponse,
};
