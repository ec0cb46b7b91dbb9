/** Keys for a part of the page that has not the focus: it gets the focus, and the key. */
export function passOn(element: HTMLElement | null, event: KeyboardEvent): void {
  if (!element) return;
  element.focus({ preventScroll: true });
  element.dispatchEvent(new KeyboardEvent("keydown", { key: event.key, shiftKey: event.shiftKey }));
}
