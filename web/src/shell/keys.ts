/** Keys that work anywhere on the page, and the list of them that `?` shows. */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export interface Key {
  /** As in `KeyboardEvent.key`, with `Ctrl+` or `Shift+` before it; several with a space between. */
  keys: string;
  /** What it does, for the overlay: "next view". */
  does: string;
  /** Absent for keys that a focused part handles by itself and that are only listed. */
  run?: (event: KeyboardEvent) => void;
}

interface Group {
  name: string;
  keys: readonly Key[];
}

/** Groups of the mounted parts, in the order of mounting. */
export const groups = signal<readonly Group[]>([]);

/** Announces the keys of a part of the page while it is mounted. The last mounted wins. */
export function useKeys(name: string, keys: readonly Key[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const group: Group = {
      name,
      get keys() {
        return latest.current;
      },
    };
    groups.value = [...groups.value, group];
    return () => {
      groups.value = groups.value.filter((other) => other !== group);
    };
  }, [name]);
}

/** Listens; called once. */
export function listenToKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || isTyping(event.target)) return;
    for (const group of groups.value.toReversed()) {
      for (const key of group.keys) {
        if (key.run && key.keys.split(" ").some((name) => matches(name, event))) {
          event.preventDefault();
          key.run(event);
          return;
        }
      }
    }
  });
}

/** Is the event for a text field? Then no key of ours works. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.tagName === "TEXTAREA" || target.tagName === "SELECT") return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type);
}

export function matches(name: string, event: KeyboardEvent): boolean {
  const parts = name.length > 1 ? name.split("+") : [name];
  const key = parts.pop() ?? "";
  const command = event.ctrlKey || event.metaKey;
  if (command !== parts.includes("Ctrl") || event.altKey) return false;
  // A sign such as `?` needs Shift on some keyboards and not on others.
  const shiftMatters = key.length > 1;
  if (shiftMatters && event.shiftKey !== parts.includes("Shift")) return false;
  return event.key === key;
}
