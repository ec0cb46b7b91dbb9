/** The page's state: signals that follow the URL, and the one function that changes both. */
import { computed, signal, type ReadonlySignal } from "@preact/signals";
import { FIRST_STATE, parseHash, printHash, type PageState } from "./url.ts";

export const page = signal<PageState>(parseHash(""));

/** The URL asks for nothing, and what is shown then depends on the recordings, which are not known yet. */
export const undecided = signal(false);

/** The hash of the first state: empty, unless a URL without a hash shows something else. */
let firstHash = "";

/** A gesture makes a step that "back" undoes; a drag replaces the step it is in. */
export type How = "push" | "replace";

/** Changes what the page shows, and the URL with it. */
export function go(change: Partial<PageState>, how: How = "push"): void {
  const before = page.value;
  const after = { ...before, ...change };
  if (printHash(after) === printHash(before)) return;
  page.value = after;
  const hash = printHash(after) || firstHash;
  const url = location.pathname + location.search + (hash ? `#${hash}` : "");
  if (how === "push") history.pushState(null, "", url);
  else history.replaceState(null, "", url);
}

/** Follows the URL: reload, back, forward, a link typed over. Without a hash, `first` is shown. */
export function followUrl(first: string): void {
  if (location.hash.length <= 1 && first !== "") history.replaceState(null, "", `#${first.replace(/^#/, "")}`);
  const read = () => {
    const state = parseHash(location.hash);
    if (printHash(state) !== printHash(page.value)) page.value = state;
  };
  read();
  undecided.value = location.hash.length <= 1;
  window.addEventListener("popstate", read);
  window.addEventListener("hashchange", read);
}

/** Decides what a URL that asks for nothing shows. The view that it showed otherwise then has a name in URLs. */
export function beginWith(view: string): void {
  if (view !== FIRST_STATE.view) firstHash = `view=${FIRST_STATE.view}`;
  // Somebody may have gone elsewhere meanwhile.
  if (undecided.value && location.hash.length <= 1) go({ view }, "replace");
  undecided.value = false;
}

/** A part of the state that changes only when its content does. */
function part<T>(of: (state: PageState) => T): ReadonlySignal<T> {
  let last: T | undefined;
  let text: string | undefined;
  return computed(() => {
    const next = of(page.value);
    const nextText = JSON.stringify(next);
    if (text !== nextText || last === undefined) {
      last = next;
      text = nextText;
    }
    return last;
  });
}

export const rec = part((state) => state.rec);
export const filter = part((state) => state.filter);
export const view = part((state) => state.view);
export const focus = part((state) => state.focus);

/** A view's own parameter in the URL. `fallback` is not written. */
export interface Param {
  readonly value: string;
  set(value: string, how?: How): void;
}

const params = new Map<string, ReadonlySignal<string>>();

export function param(name: string, fallback: string): Param {
  let value = params.get(name);
  if (!value) {
    value = computed(() => page.value.more[name] ?? "");
    params.set(name, value);
  }
  const found = value;
  return {
    get value() {
      return found.value || fallback;
    },
    set(next, how = "push") {
      go({ more: withParam(page.value.more, name, next === fallback ? "" : next) }, how);
    },
  };
}

/** `more` with one parameter changed; for changes of several things in one step. */
export function withParam(
  more: Readonly<Record<string, string>>,
  name: string,
  value: string,
): Readonly<Record<string, string>> {
  const { [name]: _, ...rest } = more;
  return value ? { ...rest, [name]: value } : rest;
}
