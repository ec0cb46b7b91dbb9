/** The kinds of conditions, as the menu and the form of each show them. */

export type Shape = "moments" | "times" | "sizes" | "words" | "names";

interface AnyKind {
  key: string;
  /** How its values are given. */
  shape: Shape;
  title: string;
  what: string;
  group: "When" | "Which blocks" | "Where in the code";
  /** What completes its names. */
  complete?: "function" | "module" | "file" | "thread" | "process";
}

const ALL = [
  {
    key: "allocated",
    shape: "moments",
    title: "Allocated",
    what: "at, before, after or between moments",
    group: "When",
  },
  { key: "live", shape: "moments", title: "Live", what: "at a moment, at the peak, at the end", group: "When" },
  { key: "collected", shape: "moments", title: "Collected", what: "in a stretch of time, or never", group: "When" },
  { key: "lifetime", shape: "times", title: "Lifetime", what: "how long blocks lived", group: "When" },
  { key: "size", shape: "sizes", title: "Size", what: "of the single block, header included", group: "Which blocks" },
  { key: "heap", shape: "words", title: "Heap", what: "minor, major, external", group: "Which blocks" },
  { key: "died", shape: "words", title: "Generation", what: "in which blocks were collected", group: "Which blocks" },
  { key: "domain", shape: "words", title: "Domain", what: "of OCaml 5 that allocated", group: "Which blocks" },
  { key: "thread", shape: "names", title: "Thread", what: "that allocated", group: "Which blocks", complete: "thread" },
  { key: "process", shape: "names", title: "Process", what: "of several", group: "Which blocks", complete: "process" },
  {
    key: "in",
    shape: "names",
    title: "Inside a call",
    what: "to a function, anywhere on the stack",
    group: "Where in the code",
    complete: "function",
  },
  {
    key: "module",
    shape: "names",
    title: "Module",
    what: "anywhere on the stack",
    group: "Where in the code",
    complete: "module",
  },
  {
    key: "file",
    shape: "names",
    title: "File",
    what: "anywhere on the stack",
    group: "Where in the code",
    complete: "file",
  },
  {
    key: "by",
    shape: "names",
    title: "Allocated by",
    what: "the function that allocates itself",
    group: "Where in the code",
    complete: "function",
  },
  {
    key: "byModule",
    shape: "names",
    title: "Allocated by module",
    what: "the module that allocates itself",
    group: "Where in the code",
    complete: "module",
  },
  {
    key: "byFile",
    shape: "names",
    title: "Allocated in file",
    what: "the file that allocates itself",
    group: "Where in the code",
    complete: "file",
  },
  {
    key: "hide",
    shape: "names",
    title: "Hide functions",
    what: "from paths; their blocks stay",
    group: "Where in the code",
    complete: "function",
  },
  {
    key: "collapse",
    shape: "names",
    title: "Collapse modules",
    what: "functions of one that call each other are one box",
    group: "Where in the code",
    complete: "module",
  },
] as const satisfies readonly AnyKind[];

export type Key = (typeof ALL)[number]["key"];
export type Kind = AnyKind & { key: Key };
export const KINDS: readonly Kind[] = ALL;

export function kindOf(key: Key): Kind {
  const kind = KINDS.find((kind) => kind.key === key);
  if (!kind) throw new Error(`no kind of condition ${key}`);
  return kind;
}

/** Whether a key changes call paths instead of choosing blocks: it has no opposite. */
export const transformsPaths = (key: string): boolean => key === "hide" || key === "collapse";
