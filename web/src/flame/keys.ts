/** Keys of functions and call sites, as they stand in the URL, and how they are read. */

export const TOPLEVEL = "<toplevel>";
export const ALLOCATIONS = "<allocations>";

/** What is shown for a key of the focus. */
export function labelOfKey(key: string): string {
  if (key === TOPLEVEL) return "OCaml toplevel";
  if (key === ALLOCATIONS) return "Allocation sites";
  const site = /^(.*)@([^@]*):(\d+):\d+-\d+$/s.exec(key);
  if (!site) return key;
  const [, name = "", file = "", line = ""] = site;
  return `${name} ${file.slice(file.lastIndexOf("/") + 1)}:${line}`;
}

/** The focus as the engine wants it: nothing chosen is the toplevel. */
export function focusOrToplevel(focus: readonly string[]): readonly string[] {
  return focus.length > 0 ? focus : [TOPLEVEL];
}

/** The focus as the URL has it: the toplevel alone is nothing. */
export function focusForUrl(focus: readonly string[]): readonly string[] {
  return focus.length === 1 && focus[0] === TOPLEVEL ? [] : focus;
}
