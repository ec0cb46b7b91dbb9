/** The engine as WebAssembly: how to call it. Runs in a worker, or in the page where there is none. */
import { decode } from "./slab.ts";

interface Exports {
  memory: WebAssembly.Memory;
  alloc(len: number): number;
  free(ptr: number, len: number): void;
  add_recording(ptr: number, len: number, description: number, descriptionLen: number): number;
  /** Absent from engines that know no snapshots. */
  add_snapshot?(recording: number, ptr: number, len: number, meta: number, metaLen: number): number;
  /** Absent from engines that find types by contents alone. */
  add_types?(ptr: number, len: number): void;
  /** Absent from engines of pages that have no references. */
  add_references?(recording: number, ptr: number, len: number, facts: number, factsLen: number): number;
  /** Absent from engines that show no source files. */
  add_sources?(ptr: number, len: number): number;
  query(ptr: number, len: number): number;
  last_error(): number;
}

export class Core {
  private constructor(private readonly exports: Exports) {}

  static async of(wasm: ArrayBuffer): Promise<Core> {
    const { instance } = await WebAssembly.instantiate(wasm, {});
    return new Core(instance.exports as unknown as Exports);
  }

  /** Takes a trace in. Throws `EngineError` when it cannot be read. */
  add(trace: ArrayBuffer, description: string): void {
    const status = this.lend(new Uint8Array(trace), (trace, traceLen) =>
      this.lend(new TextEncoder().encode(description), (text, textLen) =>
        this.exports.add_recording(trace, traceLen, text, textLen),
      ),
    );
    if (status !== 0) decode(this.result(this.exports.last_error()));
  }

  /** Takes a snapshot in with its types, or its summary alone where there are no bytes. Throws `EngineError`. */
  addSnapshot(recording: number, snapshot: ArrayBuffer, types: ArrayBuffer, meta: string): void {
    const { add_snapshot: add, add_types: addTypes } = this.exports;
    if (!add) return;
    if (addTypes) this.lend(new Uint8Array(types), (ptr, len) => addTypes(ptr, len));
    const status = this.lend(new Uint8Array(snapshot), (ptr, len) =>
      this.lend(new TextEncoder().encode(meta), (text, textLen) => add(recording, ptr, len, text, textLen)),
    );
    if (status !== 0) decode(this.result(this.exports.last_error()));
  }

  /** Takes references to blocks from malloc in, or why there are none. Throws `EngineError`. */
  addReferences(recording: number, references: ArrayBuffer, facts: string): void {
    const { add_references: add } = this.exports;
    if (!add) return;
    const status = this.lend(new Uint8Array(references), (ptr, len) =>
      this.lend(new TextEncoder().encode(facts), (text, textLen) => add(recording, ptr, len, text, textLen)),
    );
    if (status !== 0) decode(this.result(this.exports.last_error()));
  }

  /** Takes source files in. Throws `EngineError`. */
  addSources(sources: ArrayBuffer): void {
    const { add_sources: add } = this.exports;
    if (!add || sources.byteLength === 0) return;
    const status = this.lend(new Uint8Array(sources), (ptr, len) => add(ptr, len));
    if (status !== 0) decode(this.result(this.exports.last_error()));
  }

  /** The response's bytes: a copy, since the engine's memory goes on being used. */
  query(query: string): ArrayBuffer {
    return this.result(this.lend(new TextEncoder().encode(query), (ptr, len) => this.exports.query(ptr, len)));
  }

  /** Bytes in the engine's memory, for as long as a call takes. */
  private lend<T>(bytes: Uint8Array, withBytes: (ptr: number, len: number) => T): T {
    const ptr = this.exports.alloc(bytes.length);
    try {
      new Uint8Array(this.exports.memory.buffer, ptr, bytes.length).set(bytes);
      return withBytes(ptr, bytes.length);
    } finally {
      this.exports.free(ptr, bytes.length);
    }
  }

  private result(place: number): ArrayBuffer {
    const { buffer } = this.exports.memory;
    const [start = 0, len = 0] = new Uint32Array(buffer, place >>> 0, 2);
    return buffer.slice(start, start + len) as ArrayBuffer;
  }
}

/** What an offline page holds, as it stands there, compressed with gzip; but for the engine, which is unpacked. */
export interface Parcel {
  wasm: ArrayBuffer;
  recordings: { trace: ArrayBuffer; description: string }[];
  /** Empty ones are not here as a whole. */
  snapshots: { recording: number; meta: string; bytes: ArrayBuffer; types: ArrayBuffer }[];
  references: { recording: number; facts: string; bytes: ArrayBuffer }[];
  /** Empty if there are none. */
  sources: ArrayBuffer;
}

/** Unpacks the engine and its recordings. */
export async function unpack({ wasm, recordings, snapshots, references, sources }: Parcel): Promise<Core> {
  const core = await Core.of(wasm);
  for (const { trace, description } of recordings) core.add(await gunzip(trace), description);
  for (const { recording, meta, bytes, types } of snapshots) {
    core.addSnapshot(recording, await gunzip(bytes), await gunzip(types), meta);
  }
  for (const { recording, facts, bytes } of references) core.addReferences(recording, await gunzip(bytes), facts);
  core.addSources(await gunzip(sources));
  return core;
}

/** Nothing stays nothing. */
export async function gunzip(bytes: ArrayBuffer): Promise<ArrayBuffer> {
  if (bytes.byteLength === 0) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
