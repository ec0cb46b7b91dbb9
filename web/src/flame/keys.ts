/** Keys of functions and call sites, as in the URL, and their parser. */

import { siteLabel } from "./label.ts";

export const TOPLEVEL = "<toplevel>";
export const ALLOCATIONS = "<allocations>";

/** Before the name of a collapsed module. */
export const MODULE = "module:";

/** What is written for a collapsed module. */
export const moduleLabel = (name: string): string => `${name} (module)`;

/** What is shown for a key of the focus. */
export function labelOfKey(key: string): string {
  if (key === TOPLEVEL) return "all code";
  if (key === ALLOCATIONS) return "Allocation sites";
  if (key.startsWith(MODULE)) return moduleLabel(key.slice(MODULE.length));
  const site = siteOfKey(key);
  return site ? `${site.name} ${siteLabel(site.file, site.line)}`.trimEnd() : key;
}

/** What is written in a box for a key: where there is a line in the source, that alone. */
export function boxLabelOfKey(key: string): string {
  const site = siteOfKey(key);
  return (site && siteLabel(site.file, site.line)) || labelOfKey(key);
}

/** The parts of the key of a call site, `name@file:line:start-end`; null for other keys. */
function siteOfKey(key: string): { name: string; file: string; line: number } | null {
  const [, name, file, line] = /^(.*)@([^@]*):(\d+):\d+-\d+$/s.exec(key) ?? [];
  return name === undefined || file === undefined ? null : { name, file, line: Number(line) };
}

/** The focus as the engine wants it: nothing selected is the toplevel. */
export function focusOrToplevel(focus: readonly string[]): readonly string[] {
  return focus.length > 0 ? focus : [TOPLEVEL];
}

/** The focus as the URL has it: the toplevel alone is nothing. */
export function focusForUrl(focus: readonly string[]): readonly string[] {
  return focus.length === 1 && focus[0] === TOPLEVEL ? [] : focus;
}
