/** Changes of the filter, as gestures make them. Chips are their text form. */
import { filter, go, type How } from "./page.ts";

/** The KEY of `KEY:VALUES`, without the sign. */
export function keyOf(chip: string): string {
  return chip.replace(/^-/, "").split(":", 1)[0] ?? "";
}

/** Adds a chip, unless it is there. */
export function addChip(chip: string): void {
  if (!filter.value.includes(chip)) go({ filter: [...filter.value, chip] });
}

export function removeChip(index: number): void {
  go({ filter: filter.value.filter((_, at) => at !== index) });
}

export function replaceChip(index: number, chip: string, how: How = "push"): void {
  go({ filter: filter.value.map((old, at) => (at === index ? chip : old)) }, how);
}

/** Replaces every chip that has one of `keys`, in the place of the first, by `chips`. */
export function setChips(keys: readonly string[], chips: readonly string[], how: How = "push"): void {
  const old = filter.value;
  const first = old.findIndex((chip) => keys.includes(keyOf(chip)));
  const rest = (from: number, to: number) => old.slice(from, to).filter((chip) => !keys.includes(keyOf(chip)));
  const place = first < 0 ? old.length : first;
  go({ filter: [...rest(0, place), ...chips, ...rest(place, old.length)] }, how);
}
