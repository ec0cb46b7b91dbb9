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
/** Whose allocations are in question: `owner:NODE`, `node:NODE`, or `name:` and a type, kind or root. */
export const whoOf = param("who", "");

/** What retains what a function or call site allocated; with `within`, what it and its callees did. */
export function showWhy(name: string, within: boolean): void {
  const more = withParam(withParam(page.value.more, "why", name), "within", within ? "1" : "");
  go({ view: "why", more });
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
