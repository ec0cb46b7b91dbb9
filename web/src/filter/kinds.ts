/** The kinds of conditions, as the menu shows them. */
import type { Key } from "./condition.ts";

export interface Kind {
  key: Key;
  title: string;
  what: string;
  group: "When" | "Which blocks" | "Where in the code";
  /** What completes its names. */
  complete?: "function" | "module" | "file" | "thread" | "process";
}

export const KINDS: readonly Kind[] = [
  { key: "allocated", title: "Allocated", what: "at, before, after or between moments", group: "When" },
  { key: "live", title: "Live", what: "at a moment, at the peak, at the end", group: "When" },
  { key: "collected", title: "Collected", what: "in a stretch of time, or never", group: "When" },
  { key: "lifetime", title: "Lifetime", what: "how long blocks lived", group: "When" },
  { key: "size", title: "Size", what: "of the single block, header included", group: "Which blocks" },
  { key: "heap", title: "Heap", what: "minor, major, external", group: "Which blocks" },
  { key: "died", title: "Generation", what: "in which blocks were collected", group: "Which blocks" },
  { key: "domain", title: "Domain", what: "of OCaml 5 that allocated", group: "Which blocks" },
  { key: "thread", title: "Thread", what: "that allocated", group: "Which blocks", complete: "thread" },
  { key: "process", title: "Process", what: "of several", group: "Which blocks", complete: "process" },
  {
    key: "in",
    title: "Inside a call",
    what: "to a function, anywhere on the stack",
    group: "Where in the code",
    complete: "function",
  },
  { key: "module", title: "Module", what: "anywhere on the stack", group: "Where in the code", complete: "module" },
  { key: "file", title: "File", what: "anywhere on the stack", group: "Where in the code", complete: "file" },
  {
    key: "by",
    title: "Allocated by",
    what: "the function that allocates itself",
    group: "Where in the code",
    complete: "function",
  },
  {
    key: "byModule",
    title: "Allocated by module",
    what: "the module that allocates itself",
    group: "Where in the code",
    complete: "module",
  },
  {
    key: "byFile",
    title: "Allocated in file",
    what: "the file that allocates itself",
    group: "Where in the code",
    complete: "file",
  },
  {
    key: "hide",
    title: "Hide functions",
    what: "from paths; their blocks stay",
    group: "Where in the code",
    complete: "function",
  },
  {
    key: "collapse",
    title: "Collapse modules",
    what: "functions of one that call each other are one box",
    group: "Where in the code",
    complete: "module",
  },
];

export function kindOf(key: Key): Kind {
  const kind = KINDS.find((kind) => kind.key === key);
  if (!kind) throw new Error(`no kind of condition ${key}`);
  return kind;
}
