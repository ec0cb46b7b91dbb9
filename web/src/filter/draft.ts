/** A condition while it is edited: text in fields, which may not make sense yet. */
import type { ConditionForm, ValueMode } from "../generated/responses.ts";
import { kindOf, type Key } from "./kinds.ts";
import { writeValue, type ValueFields } from "./write.ts";

export interface Draft {
  key: Key;
  not: boolean;
  /** Values of which any will do; for `heap`, `died` and `domain` one that holds a word each. */
  values: ValueFields[];
}

/** What a form begins with. */
export function newDraft(key: Key): Draft {
  const { shape } = kindOf(key);
  const value = (mode: ValueMode): ValueFields => ({ mode, a: "", b: "" });
  if (shape === "words") return { key, not: false, values: [] };
  if (shape === "names") return { key, not: false, values: [value("contains")] };
  if (key === "live") return { key, not: false, values: [{ mode: "at", a: "end", b: "" }] };
  return { key, not: false, values: [value(shape === "moments" ? "between" : key === "lifetime" ? "to" : "from")] };
}

/** One more value, of the kind of the last. */
export function emptyLike({ mode }: ValueFields): ValueFields {
  return { mode: mode === "never" ? "between" : mode, a: "", b: "" };
}

export function draftOf({ key, not, values }: ConditionForm): Draft {
  return { key: key as Key, not, values: values.map(({ mode, a, b }) => ({ mode, a, b })) };
}

/** The text of the fields; nothing while one is empty. */
export function textOfDraft({ key, not, values }: Draft): string | null {
  const written = values.map(trimmed);
  if (written.length === 0 || written.some(isMissing)) return null;
  return `${not ? "-" : ""}${key}:${written.map(writeValue).join(",")}`;
}

/** Which of a draft's values has that byte of its text. */
export function valueAt({ key, not, values }: Draft, at: number): number {
  let end = key.length + (not ? 1 : 0);
  const index = values.findIndex((value) => {
    end += 1 + new TextEncoder().encode(writeValue(trimmed(value))).length;
    return at < end;
  });
  return index < 0 ? values.length - 1 : index;
}

function trimmed({ mode, a, b }: ValueFields): ValueFields {
  const isName = mode === "equals" || mode === "contains" || mode === "regex";
  return isName ? { mode, a, b } : { mode, a: a.trim(), b: b.trim() };
}

function isMissing({ mode, a, b }: ValueFields): boolean {
  return mode !== "never" && (a === "" || (mode === "between" && b === ""));
}
