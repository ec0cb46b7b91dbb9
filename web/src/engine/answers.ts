/** Fields of the answers that several parts of the page read. Bytes and seconds, as numbers. */

/** An estimate and its standard error. */
export interface Estimate {
  value: number;
  stderr: number;
}

export interface Peak {
  time: number;
  bytes: number;
}

export interface Recording {
  name: string;
  program: string;
  args: string[];
  pid: number | null;
  host: string | null;
  runtime: string | null;
  ocaml_params: string | null;
  context: string | null;
  /** Seconds since 1970. */
  start_unix: number;
  duration: number;
  rate: number;
  /** How far the rate was lowered on the way, if it was. */
  adapted?: { lowest_samples_per_word: number; mean_samples_per_word: number } | null;
  bytes_per_sample: number;
  word_bytes: number;
  seed: number | string | null;
  domains: number[];
  threads: string[];
  memtrail: string | null;
  state: string;
  outcome: string | null;
  notes: string[];
  /** What must be known of the figures: of all estimates, of what was promoted, of external bytes. */
  caveats?: { estimates?: string; promoted?: string; external?: string };
  damage: string[];
  thinned: { kept: number; of: number } | null;
  trace_bytes: number;
  events: number;
  blocks_recorded: number;
  /** How many snapshots of its heap there are; absent where the engine knows none. */
  snapshots?: number;
  /** Is there an allocation trace? A snapshot may stand alone. */
  trace?: boolean;
  /** The program runs, and can be asked for a snapshot. */
  can_snapshot?: boolean;
  totals: { allocated: Estimate; blocks: number; live_end: number; peak: Peak };
}

export interface About {
  recordings: Recording[];
  version: string;
  live: boolean;
  offline: boolean;
}

export interface Sums {
  allocated: Estimate;
  blocks: Estimate;
  live_end: number;
  peak: Peak;
  lifetime: number | null;
}

/** Columns: time, minor, major, external, most, chosen. */
export interface Overview {
  total: Sums;
  chosen: Sums;
}

/** A function, a call site, or one of the roots. */
export interface Name {
  key: string;
  name: string;
  kind: "function" | "site" | "root";
  module: string | null;
  file: string | null;
  line: number | null;
  start: number | null;
  end: number | null;
}

export interface Names {
  names: Name[];
}

export interface Preset {
  id: string;
  name: string;
  why: string;
  conditions: string[];
}

export interface Presets {
  presets: Preset[];
}

export interface Completions {
  values: string[];
}
