/** A condition while it is edited: text in fields, which may not make sense yet. */
import {
  ConditionError,
  only,
  sameMoment,
  type Condition,
  type Died,
  type Heap,
  type Key,
  type Moment,
  type Name,
  type NameKey,
  type Range,
} from "./condition.ts";
import { parseMoment, parseSize, parseTime } from "./parse.ts";
import { printMoment, printSize, printTime } from "./print.ts";

/** How a value is given: by one or two bounds, by a name, or by itself. */
export type Mode = "at" | "between" | "from" | "to" | "never" | "equals" | "contains" | "regex" | "set";

export interface DraftValue {
  mode: Mode;
  a: string;
  /** The upper end of `between`. */
  b: string;
}

export interface Draft {
  key: Key;
  not: boolean;
  /** Values of which any will do; for `heap`, `died` and `domain` one that holds a word each. */
  values: DraftValue[];
}

export type Shape = "moments" | "times" | "sizes" | "words" | "names";

export function shapeOf(key: Key): Shape {
  switch (key) {
    case "allocated":
    case "live":
    case "collected":
      return "moments";
    case "lifetime":
      return "times";
    case "size":
      return "sizes";
    case "heap":
    case "died":
    case "domain":
      return "words";
    default:
      return "names";
  }
}

/** What a form begins with. */
export function newDraft(key: Key): Draft {
  const shape = shapeOf(key);
  const value = (mode: Mode): DraftValue => ({ mode, a: "", b: "" });
  if (shape === "words") return { key, not: false, values: [] };
  if (shape === "names") return { key, not: false, values: [value("contains")] };
  if (key === "live") return { key, not: false, values: [{ mode: "at", a: "end", b: "" }] };
  return { key, not: false, values: [value(shape === "moments" ? "between" : key === "lifetime" ? "to" : "from")] };
}

/** One more value, of the kind of the last. */
export function emptyLike({ mode }: DraftValue): DraftValue {
  return { mode: mode === "never" ? "between" : mode, a: "", b: "" };
}

export function draftOf(condition: Condition): Draft {
  const { key, not } = condition;
  const range = <T extends Moment | number>({ from, to }: Range<T>, print: (value: T) => string): DraftValue => {
    if (from !== null && to !== null) {
      if (sameMoment(from as Moment, to as Moment)) return { mode: "at", a: print(from), b: "" };
      return { mode: "between", a: print(from), b: print(to) };
    }
    if (from !== null) return { mode: "from", a: print(from), b: "" };
    return { mode: "to", a: to === null ? "" : print(to), b: "" };
  };
  switch (condition.key) {
    case "allocated":
    case "live":
    case "collected": {
      const values: readonly (Range<Moment> | "never")[] = condition.values;
      return {
        key,
        not,
        values: values.map((value) =>
          value === "never" ? { mode: "never", a: "", b: "" } : range(value, printMoment),
        ),
      };
    }
    case "lifetime":
      return { key, not, values: condition.values.map((value) => range(value, printTime)) };
    case "size":
      return { key, not, values: condition.values.map((value) => range(value, printSize)) };
    case "heap":
    case "died":
    case "domain":
      return { key, not, values: condition.values.map((word) => ({ mode: "set", a: String(word), b: "" })) };
    default:
      return { key, not, values: condition.values.map(draftOfName) };
  }
}

function draftOfName(name: Name): DraftValue {
  if ("equals" in name) return { mode: "equals", a: name.equals, b: "" };
  if ("contains" in name) return { mode: "contains", a: name.contains, b: "" };
  return { mode: "regex", a: name.regex, b: "" };
}

/** What is wrong with a draft: which value, and why. `why` is null where something is missing. */
export interface Trouble {
  index: number;
  why: string | null;
}

/** The condition that a draft makes. */
export function conditionOfDraft(draft: Draft): Condition | Trouble {
  const { key, not, values } = draft;
  if (values.length === 0) return { index: 0, why: null };
  let index = 0;
  const each = <T>(one: (value: DraftValue) => T): T[] =>
    values.map((value, at) => {
      index = at;
      return one(value);
    });
  try {
    switch (key) {
      case "allocated":
      case "live":
        return { key, not, values: each((value) => rangeOf(value, parseMoment)) };
      case "collected":
        return {
          key,
          not,
          values: each((value) => (value.mode === "never" ? "never" : rangeOf(value, parseMoment))),
        };
      case "lifetime":
        return { key, not, values: each((value) => inOrder(rangeOf(value, parseTime))) };
      case "size":
        return { key, not, values: each((value) => inOrder(rangeOf(value, parseSize))) };
      case "heap":
        return { key, not, values: each(({ a }) => a as Heap) };
      case "died":
        return { key, not, values: each(({ a }) => a as Died) };
      case "domain":
        return { key, not, values: each(({ a }) => Number(a)) };
      default:
        return { key: key as NameKey, not, values: each(nameOf) };
    }
  } catch (error) {
    if (error instanceof Missing) return { index, why: null };
    if (error instanceof ConditionError) return { index, why: error.message };
    throw error;
  }
}

class Missing extends Error {}

function given(text: string): string {
  if (text.trim() === "") throw new Missing();
  return text.trim();
}

function rangeOf<T>({ mode, a, b }: DraftValue, parse: (text: string) => T): Range<T> {
  if (mode === "at") return only(parse(given(a)));
  if (mode === "from") return { from: parse(given(a)), to: null };
  if (mode === "to") return { from: null, to: parse(given(a)) };
  return { from: parse(given(a)), to: parse(given(b)) };
}

function inOrder(range: Range<number>): Range<number> {
  if (range.from !== null && range.to !== null && range.from > range.to) {
    throw new ConditionError("the range ends before it begins", 0);
  }
  return range;
}

function nameOf({ mode, a }: DraftValue): Name {
  if (a === "") throw new Missing();
  if (mode === "equals") return { equals: a };
  return mode === "contains" ? { contains: a } : { regex: a };
}
