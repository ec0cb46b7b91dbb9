/** The way between the halves: from what allocates to what retains it, and from what is retained to who allocated it. */
import { computed } from "@preact/signals";
import { recording } from "../../state/about.ts";
import { go, page, param, withParam } from "../../state/page.ts";
import type { NodeId } from "../node.ts";

/** Whether there are both a trace and snapshots to lead to. */
export const joins = computed(() => {
  const run = recording.value;
  return run !== null && run.trace && run.snapshots > 0;
});

/** The function, part of a name, line or call site in question. */
export const whyOf = param("why", "");
/** `1` where all counts that was allocated inside calls of the function. */
export const whyWithin = param("within", "");
/** A call path in question, as a JSON array of keys, outermost first: then `why` is its last. */
export const whyPath = param("path", "");
/** Whose allocations are in question: `owner:NODE`, `node:NODE`, or `name:` and a type, kind or root. */
export const whoOf = param("who", "");

/** What retains what a function or call site allocated; with `within`, what it and its callees did. */
export function showWhy(name: string, within: boolean): void {
  showWhyOf(name, within, "");
}

/** What retains what was allocated below a call path, a contiguous piece of a stack. */
export function showWhyOfPath(path: readonly string[]): void {
  showWhyOf(path.at(-1) ?? "", true, JSON.stringify(path));
}

function showWhyOf(name: string, within: boolean, path: string): void {
  let { more } = page.value;
  more = withParam(more, "why", name);
  more = withParam(more, "within", within ? "1" : "");
  go({ view: "why", more: withParam(more, "path", path) });
}

/** The path in question; empty where a function is. */
export function pathInQuestion(): readonly string[] {
  try {
    const path: unknown = JSON.parse(whyPath.value || "[]");
    return Array.isArray(path) ? path.filter((key) => typeof key === "string") : [];
  } catch {
    return [];
  }
}

/** Who allocated what a root owns. */
export function showWhoOwned(node: NodeId): void {
  showWho(`owner:${node}`);
}

/** Who allocated what would be freed without a node. */
export function showWhoBelow(node: NodeId): void {
  showWho(`node:${node}`);
}

/** Who allocated the blocks of a type or kind. */
export function showWhoNamed(name: string): void {
  showWho(`name:${name}`);
}

function showWho(what: string): void {
  go({ view: "who", more: withParam(page.value.more, "who", what) });
}
