/**
 * Reads the text form of conditions; `crates/profile/src/filter/parse.rs` has the grammar, and
 * `crates/text` that of sizes and durations. Regular expressions are not looked into: their syntax
 * is the engine's.
 */
import {
  ConditionError,
  KEYS,
  only,
  type Condition,
  type Died,
  type Heap,
  type Key,
  type Moment,
  type Name,
  type Range,
} from "./condition.ts";

const HEAPS: readonly Heap[] = ["minor", "major", "external"];
const DIED: readonly Died[] = [...HEAPS, "never"];
const KEY_HINT = `a condition is written key:value; keys are ${KEYS.join(", ")}`;

const EXAMPLES = {
  "a time": "times are like 12.5s, 1m30s, 40%, peak, end",
  "a size": "sizes are like 512, 4K, 1.5M, 2GiB",
} as const;

const TIME_UNITS: ReadonlyMap<string, bigint> = new Map([
  ["us", 1n],
  ["\u00b5s", 1n],
  ["\u03bcs", 1n],
  ["ms", 1_000n],
  ["s", 1_000_000n],
  ["m", 60_000_000n],
  ["min", 60_000_000n],
  ["h", 3_600_000_000n],
  ["d", 86_400_000_000n],
]);
/** `K`, `KB` and `KiB` are the same, in capitals or not. */
const SIZE_UNITS: ReadonlyMap<string, bigint> = new Map([
  ["b", 1n],
  ...["k", "m", "g", "t"].flatMap((letter, index): [string, bigint][] =>
    ["", "b", "ib"].map((end) => [letter + end, 1n << BigInt(10 * (index + 1))]),
  ),
]);
/** What one event's time can be away from the start: 48 bits of microseconds. */
const MAX_MICROSECONDS = (1n << 48n) - 1n;
const LARGEST = 1n << 53n;

export function parseCondition(text: string): Condition {
  const not = text.startsWith("-");
  const start = not ? 1 : 0;
  const colon = text.indexOf(":");
  if (colon < 0) throw new ConditionError(`no colon in ${JSON.stringify(text)}`, utf8(text).length, KEY_HINT);
  const key = text.slice(start, colon);
  const cursor = new Cursor(text, colon + 1);
  switch (key as Key) {
    case "allocated":
    case "live":
      return { key: key as "allocated" | "live", not, values: cursor.all(() => cursor.moments()) };
    case "collected":
      return { key: "collected", not, values: cursor.all(() => cursor.collected()) };
    case "lifetime":
      return { key: "lifetime", not, values: cursor.all(() => cursor.range(() => cursor.time(), isBackwards)) };
    case "size":
      return { key: "size", not, values: cursor.all(() => cursor.range(() => cursor.size(), isBackwards)) };
    case "heap":
      return { key: "heap", not, values: cursor.all(() => cursor.oneOf(HEAPS)) };
    case "died":
      return { key: "died", not, values: cursor.all(() => cursor.oneOf(DIED)) };
    case "domain":
      return { key: "domain", not, values: cursor.all(() => cursor.domain()) };
    case "hide":
      if (not) throw new ConditionError("hiding cannot be negated", 0, "use hide:…");
      return { key: "hide", not, values: cursor.all(() => cursor.name()) };
    case "collapse":
      if (not) throw new ConditionError("collapsing cannot be negated", 0, "use collapse:…");
      return { key: "collapse", not, values: cursor.all(() => cursor.name()) };
    case "thread":
    case "process":
    case "in":
    case "module":
    case "file":
    case "by":
    case "byModule":
    case "byFile":
      return { key: key as "in", not, values: cursor.all(() => cursor.name()) };
    default:
      throw new ConditionError(`unknown condition ${JSON.stringify(key)}`, start, KEY_HINT);
  }
}

/** The condition, or what is wrong with it. */
export function tryCondition(text: string): Condition | ConditionError {
  try {
    return parseCondition(text);
  } catch (error) {
    if (error instanceof ConditionError) return error;
    throw error;
  }
}

/** A time as in conditions (`12.5s`, `1m30s`, `40%`, `peak`). Throws `ConditionError`. */
export function parseMoment(text: string): Moment {
  return whole(text, (cursor) => cursor.moment());
}

/** A span of time as in conditions, in microseconds. Throws `ConditionError`. */
export function parseTime(text: string): number {
  return whole(text, (cursor) => cursor.time());
}

/** A size as in conditions, in bytes. Throws `ConditionError`. */
export function parseSize(text: string): number {
  return whole(text, (cursor) => cursor.size());
}

function whole<T>(text: string, one: (cursor: Cursor) => T): T {
  const cursor = new Cursor(text.trim(), 0);
  const value = one(cursor);
  if (cursor.rest() !== "") throw cursor.error(`unexpected ${JSON.stringify(cursor.rest())}`);
  return value;
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function isBackwards(from: number, to: number): boolean {
  return from > to;
}

/** The rest of a condition's text. */
class Cursor {
  constructor(
    private readonly text: string,
    private at: number,
  ) {}

  all<T>(one: () => T): T[] {
    const values: T[] = [];
    for (;;) {
      values.push(one());
      if (this.rest() === "") return values;
      if (!this.skip(",")) throw this.error(`unexpected ${JSON.stringify(this.rest())}`);
    }
  }

  rest(): string {
    return this.text.slice(this.at);
  }

  error(message: string, hint: string | null = null, at = this.at): ConditionError {
    return new ConditionError(message, utf8(this.text.slice(0, at)).length, hint);
  }

  private skip(token: string): boolean {
    const found = this.text.startsWith(token, this.at);
    if (found) this.at += token.length;
    return found;
  }

  private untilComma(): string {
    return this.rest().split(",", 1)[0] ?? "";
  }

  range<T>(one: () => T, backwards: (from: T, to: T) => boolean): Range<T> {
    const start = this.at;
    if (this.skip("..")) return { from: null, to: one() };
    const from = one();
    if (!this.skip("..")) return only(from);
    if (this.at === this.text.length || this.text[this.at] === ",") return { from, to: null };
    const to = one();
    if (backwards(from, to)) {
      const text = this.text.slice(start, this.at);
      throw this.error(`the range ${JSON.stringify(text)} ends before it begins`, null, start);
    }
    return { from, to };
  }

  moments(): Range<Moment> {
    // Moments of different kinds cannot be compared without the recording.
    return this.range(
      () => this.moment(),
      (from, to) => {
        if (typeof from === "string" || typeof to === "string") return false;
        if ("us" in from) return "us" in to && from.us > to.us;
        return "ppm" in to && from.ppm > to.ppm;
      },
    );
  }

  collected(): Range<Moment> | "never" {
    if (this.untilComma() !== "never") return this.moments();
    this.skip("never");
    return "never";
  }

  moment(): Moment {
    for (const word of ["start", "peak", "end"] as const) if (this.skip(word)) return word;
    const start = this.at;
    const { times } = this.decimal("a time");
    if (this.skip("%")) {
      const ppm = times(10_000n);
      if (ppm > 1_000_000n) throw this.error("more than 100% of the recording", null, start);
      return { ppm: Number(ppm) };
    }
    this.at = start;
    return { us: this.time() };
  }

  time(): number {
    const start = this.at;
    let total = 0n;
    for (;;) {
      const first = this.at === start;
      const { times } = this.decimal("a time");
      const unit = this.unit((name) => TIME_UNITS.get(name));
      if (unit === undefined && !first) throw this.error("a unit is missing", "units are d, h, m, s, ms, us");
      total += times(unit ?? 1_000_000n);
      const next = /^ *(?=[0-9])/.exec(this.rest());
      if (unit === undefined || !next) break;
      this.at += next[0].length;
    }
    if (total > MAX_MICROSECONDS) {
      throw this.error("longer than the nine years that a recording can take", null, start);
    }
    return Number(total);
  }

  size(): number {
    const start = this.at;
    const { times } = this.decimal("a size");
    const size = times(this.unit((name) => SIZE_UNITS.get(name.toLowerCase())) ?? 1n);
    if (size > LARGEST) throw this.error("a size beyond 8192T", null, start);
    return Number(size);
  }

  /** The unit that comes next, spaces before it left out: all letters there have to be one. */
  private unit(meaning: (name: string) => bigint | undefined): bigint | undefined {
    const found = /^ *([A-Za-z\u00b5\u03bc]*)/.exec(this.rest());
    const unit = meaning(found?.[1] ?? "");
    if (unit !== undefined) this.at += found?.[0].length ?? 0;
    return unit;
  }

  /** A number with nine places after the point, as a function of the unit it counts. */
  private decimal(what: keyof typeof EXAMPLES): { times: (unit: bigint) => bigint } {
    // Two dots belong to a range.
    const found = /^([0-9]+)(?:\.([0-9]+))?/.exec(this.rest());
    const whole = found?.[1];
    if (!found || whole === undefined) {
      const text = this.untilComma();
      throw this.error(text === "" ? `${what} is missing` : `${JSON.stringify(text)} is not ${what}`, EXAMPLES[what]);
    }
    if (BigInt(whole) >= 1n << 64n) throw this.error("too large a number");
    this.at += found[0].length;
    const billionths = BigInt((found[2] ?? "").slice(0, 9).padEnd(9, "0"));
    return { times: (unit) => BigInt(whole) * unit + (billionths * unit) / 1_000_000_000n };
  }

  oneOf<T extends string>(words: readonly T[]): T {
    const found = this.untilComma();
    const word = words.find((known) => known === found);
    if (!word) throw this.error(`unknown value ${JSON.stringify(found)}`, `one of ${words.join(", ")}`);
    this.at += word.length;
    return word;
  }

  domain(): number {
    const found = this.untilComma();
    if (!/^[0-9]+$/.test(found) || Number(found) > 65_535) {
      throw this.error(`${JSON.stringify(found)} is not a domain`, "domains are numbers");
    }
    this.at += found.length;
    return Number(found);
  }

  name(): Name {
    if (this.skip("~")) return { contains: this.word() };
    if (!this.rest().startsWith("/")) return { equals: this.word() };
    const start = this.at;
    let regex = "";
    for (let at = start + 1; at < this.text.length; at += 1) {
      const char = this.text[at];
      if (char === "/") {
        this.at = at + 1;
        return { regex };
      }
      if (char !== "\\") {
        regex += char;
        continue;
      }
      at += 1;
      if (at < this.text.length) regex += this.text[at] === "/" ? "/" : `\\${this.text[at]}`;
    }
    throw this.error("the regular expression does not end", "it is written /…/", start);
  }

  private word(): string {
    if (!this.rest().startsWith('"')) {
      const word = this.untilComma();
      if (word === "") throw this.error("a name is missing", 'the empty name is written ""');
      this.at += word.length;
      return word;
    }
    const start = this.at;
    let word = "";
    for (let at = start + 1; at < this.text.length; at += 1) {
      const char = this.text[at];
      if (char === '"') {
        this.at = at + 1;
        return word;
      }
      if (char !== "\\") {
        word += char;
        continue;
      }
      at += 1;
      const escaped = this.text[at];
      if (escaped !== '"' && escaped !== "\\") {
        throw this.error('a backslash must precede \\ or "', null, at - 1);
      }
      word += escaped;
    }
    throw this.error("the quoted name does not end", null, start);
  }
}
