/**
 * A response of the engine: a JSON header and columns of numbers, in one piece of memory.
 *
 *     "MTA1" | u32 n | n bytes of JSON | zeros up to a multiple of 8 | columns
 */

import type { ColumnPlace, ColumnType, ErrorResponse } from "../generated/responses.ts";

const arrays = {
  f64: Float64Array,
  f32: Float32Array,
  u32: Uint32Array,
  u16: Uint16Array,
  u8: Uint8Array,
} as const;

/** What the engine refused, and what to do about it. */
export class EngineError extends Error {
  override name = "EngineError";
  constructor(
    message: string,
    readonly hint: string | undefined = undefined,
    /** Index of the condition that is to blame. */
    readonly condition: number | undefined = undefined,
    /** Byte offset in that condition. */
    readonly at: number | undefined = undefined,
  ) {
    super(message);
  }
}

/** The columns of a response, by name. They are views: nothing is copied. */
export class Columns {
  constructor(
    private readonly buffer: ArrayBuffer,
    private readonly base: number,
    private readonly places: Readonly<Record<string, ColumnPlace>>,
  ) {}

  has(name: string): boolean {
    return Object.hasOwn(this.places, name);
  }
  f64(name: string): Float64Array {
    return this.view(name, "f64") as Float64Array;
  }
  f32(name: string): Float32Array {
    return this.view(name, "f32") as Float32Array;
  }
  u32(name: string): Uint32Array {
    return this.view(name, "u32") as Uint32Array;
  }
  u16(name: string): Uint16Array {
    return this.view(name, "u16") as Uint16Array;
  }
  u8(name: string): Uint8Array {
    return this.view(name, "u8") as Uint8Array;
  }
  /** A column of whatever type it has. */
  numbers(name: string): Float64Array | Float32Array | Uint32Array | Uint16Array | Uint8Array {
    return this.view(name, undefined);
  }

  private view(name: string, type: ColumnType | undefined) {
    const place = Object.hasOwn(this.places, name) ? this.places[name] : undefined;
    if (!place) throw new EngineError(`response without a column ${name}`);
    if (type && place.type !== type) throw new EngineError(`column ${name} is ${place.type}, not ${type}`);
    return new arrays[place.type](this.buffer, this.base + place.at, place.len);
  }
}

/** The fields of a response, and its columns. */
export type QueryResponse<Fields> = Fields & { columns: Columns };

const magic = "MTA1";

/** Reads a response. Throws `EngineError` for one that says an error, or makes no sense. */
export function decode<Fields>(buffer: ArrayBuffer): QueryResponse<Fields> {
  const bytes = new Uint8Array(buffer);
  if (bytes.length < 8 || magic !== String.fromCharCode(...bytes.subarray(0, 4))) {
    throw new EngineError(`response of ${bytes.length} bytes does not begin with ${magic}`);
  }
  const length = new DataView(buffer).getUint32(4, true);
  if (8 + length > bytes.length) {
    throw new EngineError(`response of ${bytes.length} bytes has a header of ${length}`);
  }
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  if (header.error) {
    const { message, hint, condition, at } = (header as ErrorResponse).error;
    throw new EngineError(message, hint, condition, at);
  }
  const base = (8 + length + 7) & ~7;
  return { ...header, columns: new Columns(buffer, base, header.columns ?? {}) };
}
