/** Texts of the conditions that gestures and forms make. */
import type { ValueForm } from "../generated/responses.ts";
import { remember } from "./checks.ts";

/** The contents of a form's fields for one value. */
export type ValueFields = Pick<ValueForm, "mode" | "a" | "b">;

/** A range of time, in whole microseconds; null is open. */
export interface Stretch {
  from: number | null;
  to: number | null;
}

export function writeValue({ mode, a, b }: ValueFields): string {
  switch (mode) {
    case "between":
      return `${a}..${b}`;
    case "from":
      return `${a}..`;
    case "to":
      return `..${a}`;
    case "never":
      return "never";
    case "equals":
      return quoteName(a);
    case "contains":
      return `~${quoteName(a)}`;
    case "regex":
      return `/${a.replace(/\\[^]|\//g, (part) => (part === "/" ? "\\/" : part))}/`;
    default:
      return a;
  }
}

/** The condition of a range, whose meaning the page knows at once. */
export function writeRange(key: "allocated" | "live" | "collected" | "lifetime", { from, to }: Stretch): string {
  const end = (us: number | null) => (us === null || key === "lifetime" ? us : { us });
  const fields = fieldsOf(from, to);
  const text = `${key}:${writeValue(fields)}`;
  remember(text, { key, not: false, values: [{ ...fields, from: end(from), to: end(to) }] });
  return text;
}

function fieldsOf(from: number | null, to: number | null): ValueFields {
  if (from === null) return { mode: "to", a: writeSeconds(to ?? 0), b: "" };
  if (to === null) return { mode: "from", a: writeSeconds(from), b: "" };
  if (from === to) return { mode: "at", a: writeSeconds(from), b: "" };
  return { mode: "between", a: writeSeconds(from), b: writeSeconds(to) };
}

/** Whole microseconds as seconds, exactly: `12.5s`. */
export function writeSeconds(us: number): string {
  const digits = String(us).padStart(7, "0");
  const fraction = digits.slice(-6).replace(/0+$/, "");
  return `${digits.slice(0, -6)}${fraction && `.${fraction}`}s`;
}

/** Seconds as whole microseconds. */
export function microseconds(seconds: number): number {
  return Math.max(0, Math.round(seconds * 1e6));
}

/** A name as a condition's value: quoted if it could be taken for something else. */
export function quoteName(name: string): string {
  const plain = name !== "" && !/^[~/]|[,"]|\.\./.test(name);
  return plain ? name : `"${name.replace(/["\\]/g, "\\$&")}"`;
}
