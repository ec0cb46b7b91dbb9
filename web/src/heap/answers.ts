/** What the engine answers to questions about snapshots. Bytes, and seconds since the start. */

/** A place in the dominator tree, as text: `all`, `kind:stack`, `label:7`, `block:123`, `group:block:123/tag 0, 2 fields`. */
export type NodeId = string;

export interface Snapshot {
  number: number;
  reason: string;
  at: number | null;
  /** How long the program stood still. */
  pause: number;
  heap: number;
  live: number | null;
  blocks: number;
  file_bytes: number;
  /** Collections before it was taken. */
  major: number;
  minor: number;
  analysed: boolean;
  contents: boolean;
  /** Is it here as a whole, or its summary only? */
  included: boolean;
  damage: string | null;
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
  external: number;
  retained: number | null;
  example: number | null;
}

export interface HistogramAnswer {
  rows: KindRow[];
  count: number;
  blocks: number;
  bytes: number;
  external: number;
  unreachable_blocks: number;
  unreachable_bytes: number;
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
  bytes: number[];
}

export interface GrowthAnswer {
  ready: number;
  of: number;
  snapshots: number[];
  rows: GrowthRow[];
}

export interface Duplicate {
  start: string;
  length: number;
  times: number;
  wasted: number;
  example: number;
}

export interface StringsAnswer {
  strings: { strings: number; bytes: number; wasted: number; duplicates: Duplicate[] } | null;
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
  example: number;
  kinds: string[];
}

export interface SamplesAnswer {
  sampled: number;
  rows: SiteRow[];
  count: number;
}
