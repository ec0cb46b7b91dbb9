/** What the engine answers to questions about snapshots. Bytes, and seconds since the start. */

/** A place in the dominator tree, as text: `all`, `kind:stack`, `label:7`, `block:123`, `group:block:123/tag 0, 2 fields`. */
export type NodeId = string;

export interface Snapshot {
  number: number;
  reason: string;
  /** The name that the program gave it. */
  label: string | null;
  at: number | null;
  /** How long the program paused. */
  pause: number;
  heap: number;
  live: number | null;
  /** The part of that in the major heap, whose size is `heap`. */
  live_in_heap: number | null;
  blocks: number;
  file_bytes: number;
  /** Collections before it was taken. */
  major: number;
  minor: number;
  analysed: boolean;
  contents: boolean;
  /** Is it here as a whole, or its summary only? */
  included: boolean;
  /** What is wrong with it: figures are of a part of it. */
  damage: string | null;
  /** False if there are no figures, and there will be none. */
  readable: boolean;
}

export interface SnapshotsAnswer {
  snapshots: Snapshot[];
  can_take: boolean;
  why_not: string | null;
}

export interface Series {
  name: string;
  /** Of a root. */
  kind: string | null;
  bytes: number[];
}

export interface EvolutionAnswer {
  ready: number;
  /** How many there will be nothing of, as they cannot be read. */
  failed: number;
  of: number;
  /** Numbers of the snapshots that the other columns are about. */
  snapshots: number[];
  total: number[];
  series: Series[];
  rest: number[];
}

export interface SharedAnswer {
  /** Bytes that both roots reach. */
  common: number;
}

export interface NodeInfo {
  node: NodeId;
  name: string;
  retained: number;
  retained_external?: number;
  blocks?: number;
}

export interface RootRow {
  node: NodeId;
  kind: string;
  name: string;
  path: string[];
  /** Of all that is alive, as everywhere. */
  share: number;
  retained: number;
  reachable: number;
  shared: number;
  /** Bytes outside the heap that go with what it retains. */
  retained_external: number;
  /** Labels directly under it. */
  below: number;
}

export interface RootKind {
  kind: string;
  node: NodeId;
  retained: number;
  retained_external: number;
  labels: number;
}

export interface RootsAnswer {
  rows: RootRow[];
  count: number;
  total: number;
  kinds: RootKind[];
}

export interface Child {
  node: NodeId;
  name: string;
  what: "holder" | "group" | "block";
  share: number;
  blocks: number;
  bytes: number;
  retained: number;
  retained_external: number;
  /** Of a group: the block of it that retains most. */
  largest: number | null;
  opens: boolean;
}

export interface ChildrenAnswer {
  node: NodeInfo;
  path: NodeInfo[];
  rows: Child[];
  count: number;
}

export interface KindRow {
  kind: string;
  blocks: number;
  bytes: number;
  share: number;
  external: number;
  retained: number | null;
  /** Where most of the kind is, if that is known. */
  most: { node: NodeId; bytes: number; blocks: number } | null;
  /** The block that retains most of those there. */
  example: number | null;
}

export interface HistogramAnswer {
  rows: KindRow[];
  count: number;
  blocks: number;
  bytes: number;
  external: number;
  /** Unknown of a damaged snapshot. */
  unreachable_blocks: number | null;
  unreachable_bytes: number | null;
}

/** A box of a nested picture; parents stand before their children. */
export interface Box {
  parent: number;
  node: NodeId | null;
  name: string;
  what: "holder" | "group" | "block" | "rest";
  retained: number;
  retained_external?: number;
  own: number;
  blocks: number;
  /** The block of it that retains most. */
  largest?: number | null;
}

export interface TreemapAnswer {
  path: NodeInfo[];
  boxes: Box[];
}

export interface FlameAnswer {
  total: number;
  boxes: Box[];
}

export interface Step {
  name: string;
  node: NodeId | null;
  block: number | null;
  /** The field that leads on. */
  field: number | null;
  times: number;
  dominates: boolean;
  retained: number | null;
}

export interface Frame {
  name: string;
  module: string | null;
  file: string | null;
  line: number | null;
  start: number | null;
  end: number | null;
  key: string;
}

export interface Reference {
  field: number | null;
  block: number | null;
  /** Of what references: a root has no block. */
  node?: NodeId;
  kind?: string;
  name?: string;
  retained: number;
  weak?: boolean;
}

export interface Listed<T> {
  count: number;
  rows: T[];
}

export interface BlockAnswer {
  block: number;
  node: NodeId;
  kind: string;
  address: string | null;
  size: number;
  external: number;
  retained: number;
  retained_external: number;
  blocks: number;
  space: string;
  reachable: boolean;
  text: string | null;
  text_length: number;
  text_is_cut: boolean;
  path: Step[];
  references: Listed<Reference>;
  referenced_by: Listed<Reference>;
  dominates: Listed<Child>;
  dominator: NodeInfo | null;
  sample: { time: number; frames: Frame[] } | null;
}

export interface Way {
  steps: Step[];
  blocks: number;
  retained: number;
}

export interface PathAnswer {
  paths: Way[];
  /** There are no more. */
  all?: boolean;
}

export interface StackRow extends RootRow {
  /** How deep in thread, frame, slot. */
  depth: number;
}

export interface Change {
  name: string;
  kind: string | null;
  blocks: [number, number] | null;
  bytes: [number, number];
  share: number;
}

export interface DiffAnswer {
  bytes: [number, number];
  kinds: Change[];
  roots: Change[];
}

export interface GrowthRow {
  name: string;
  is_root: boolean;
  kind: string | null;
  grown: number;
  bytes: number[];
  share: number;
}

export interface GrowthAnswer {
  ready: number;
  failed: number;
  of: number;
  snapshots: number[];
  rows: GrowthRow[];
}

export interface Duplicate {
  /** How it begins, as OCaml writes it, without quotes. */
  start: string;
  /** There is more of it. */
  cut: boolean;
  length: number;
  times: number;
  wasted: number;
  share: number;
  example: number;
}

export interface StringsAnswer {
  /** Sums of all strings; null where the snapshot has no contents. */
  strings: {
    strings: number;
    bytes: number;
    /** Without headers and padding. */
    contents: number;
    wasted: number;
    /** How many different ones are there several times, and how many of them are in the table. */
    repeated: number;
    kept: number;
  } | null;
  rows: Duplicate[];
  count: number;
}

export interface SiteRow {
  key: string;
  name: string;
  file: string | null;
  line: number | null;
  /** Sampled blocks that are alive. */
  blocks: number;
  bytes: number;
  retained: number;
  share: number;
  example: number;
  kinds: string[];
}

export interface SamplesAnswer {
  sampled: number;
  rows: SiteRow[];
  count: number;
}
