/** Changes of the filter, as gestures make them. Conditions are their text form. */
import { filter, go, type How } from "./page.ts";

/** The KEY of `KEY:VALUES`, without the sign. */
export function keyOf(condition: string): string {
  return condition.replace(/^-/, "").split(":", 1)[0] ?? "";
}

/** Adds a condition, unless it is there. */
export function addCondition(condition: string): void {
  if (!filter.value.includes(condition)) go({ filter: [...filter.value, condition] });
}

export function removeCondition(index: number): void {
  go({ filter: filter.value.filter((_, at) => at !== index) });
}

export function replaceCondition(index: number, condition: string, how: How = "push"): void {
  go({ filter: filter.value.map((old, at) => (at === index ? condition : old)) }, how);
}

/** Replaces every condition that has one of `keys`, in the place of the first, by `conditions`. */
export function setConditions(keys: readonly string[], conditions: readonly string[], how: How = "push"): void {
  const old = filter.value;
  const first = old.findIndex((condition) => keys.includes(keyOf(condition)));
  const rest = (from: number, to: number) =>
    old.slice(from, to).filter((condition) => !keys.includes(keyOf(condition)));
  const place = first < 0 ? old.length : first;
  go({ filter: [...rest(0, place), ...conditions, ...rest(place, old.length)] }, how);
}
