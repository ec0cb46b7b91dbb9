/** Where the focus goes when something opens. */
import { useLayoutEffect } from "preact/hooks";
import type { RefObject } from "preact";

/** Gives the focus to the element marked `data-first` when the part of the page appears. */
export function useFirstFocus(root: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    root.current?.querySelector<HTMLElement>("[data-first]:not([data-first='false'])")?.focus();
  }, []);
}
