/**
 * What can be done to the call tree at a function, site or module, as items of its context menu. Each is a change of the
 * filter or the focus, so that it is in the address, has a chip that removes it, and "back" undoes it.
 */
import { quoteName } from "../filter/write.ts";
import { joins, showWhy, showWhyOfPath } from "../heap/join/links.ts";
import { addCondition } from "../state/filter.ts";
import { go, page, param, withParam } from "../state/page.ts";
import type { MenuItem } from "../widgets/Menu.tsx";
import { copyText } from "../widgets/notice.ts";
import { ALLOCATIONS } from "./keys.ts";

/** `shown`: every call of a function that calls itself is a box; else the outermost is. */
export const recursion = param("recursion", "folded");

export interface Subject {
  readonly name: string;
  /** What queries call it. */
  readonly key: string | null;
  readonly kind: "function" | "site" | "module" | "file" | "root" | "unknown";
  /** The whole name of the function, or of the site's. */
  readonly functionName: string | null;
  readonly module: string | null;
  readonly place: string | null;
}

/** What the view can do with it; absent where it cannot. */
interface Actions {
  /** Shows what is on the path to it alone. */
  subtree?: (() => void) | undefined;
  /** The call path to it, for the heap half. */
  path?: (() => Promise<readonly string[] | null>) | undefined;
  /** Zooms to it. */
  zoom?: (() => void) | undefined;
}

const undo: MenuItem = {
  key: "u",
  title: "Undo the last change",
  what: "as the browser's Back",
  run: () => history.back(),
};
const invert: MenuItem = {
  key: "i",
  title: "Invert the call tree",
  what: "allocation sites first, with who called them",
  run: () => go({ view: "flame", focus: [ALLOCATIONS], more: withParam(page.value.more, "dir", "callers") }),
};

export function transformsOf(subject: Subject, actions: Actions): MenuItem[][] {
  const { key, kind, functionName, module } = subject;
  const condition = (letter: string, title: string, text: string): MenuItem => ({
    key: letter,
    title,
    what: text,
    run: () => addCondition(text),
  });
  const focus: MenuItem[] = [];
  if (actions.subtree)
    focus.push({ key: "s", title: "Focus on the subtree", what: "this call path", run: actions.subtree });
  if (key !== null && (kind === "function" || kind === "site")) {
    focus.push({
      key: "f",
      title: kind === "site" ? "Focus on the site" : "Focus on the function",
      what: "wherever it is called",
      run: () => go({ view: "flame", focus: [key] }),
    });
  }
  if (key !== null && kind === "function") {
    focus.push({
      key: "r",
      title: "Focus on its recursion",
      what: "its calls of itself, one box each",
      run: () => go({ view: "flame", focus: [key], more: withParam(page.value.more, "recursion", "shown") }),
    });
  }
  if (actions.zoom) focus.push({ key: "z", title: "Zoom to the box", run: actions.zoom });
  const change: MenuItem[] = [];
  if (functionName !== null) {
    const name = quoteName(functionName);
    if (kind === "function") change.push(condition("m", "Merge the function into its callers", `hide:${name}`));
    change.push(condition("d", "Drop stacks with the function", `-in:${name}`));
    change.push(condition("o", "Only stacks with the function", `in:${name}`));
  }
  if (module) {
    const name = quoteName(module);
    if (kind !== "module") change.push(condition("c", `Collapse module ${module}`, `collapse:${name}`));
    change.push(condition("D", `Drop stacks with module ${module}`, `-module:${name}`));
    change.push(condition("O", `Only stacks with module ${module}`, `module:${name}`));
  }
  const more: MenuItem[] = [];
  if (joins.value && key !== null && (kind === "function" || kind === "site")) {
    more.push({ key: "w", title: "What retains it", run: () => showWhy(key, kind === "function") });
  }
  const { path } = actions;
  if (joins.value && path) {
    more.push({
      key: "W",
      title: "What retains this call path",
      what: "what is allocated below it, not by other callers",
      run: () => void path().then((keys) => keys && showWhyOfPath(keys)),
    });
  }
  more.push({
    key: "n",
    title: "Copy the name",
    run: () => void copyText([subject.name, subject.place].filter(Boolean).join(" "), "name"),
  });
  return [focus, change, [invert, undo], more];
}
