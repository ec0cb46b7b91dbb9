/** Which panel is at the side of the views, and whether any is. */
import { signal } from "@preact/signals";

const NARROW = 1100;
/** Source text needs more room than a list of names. */
const WIDE = 560;

export const sideOpen = signal(innerWidth >= NARROW);
/** Id of the panel; the first one if empty. */
export const sidePanel = signal("");
export const sideWidth = signal(Math.round(Math.min(380, Math.max(250, innerWidth * 0.2))));

/** Shows a panel that wants much room, as far as there is some. */
export function showWide(id: string): void {
  sidePanel.value = id;
  sideOpen.value = true;
  sideWidth.value = Math.max(sideWidth.value, Math.round(Math.min(WIDE, innerWidth * 0.5)));
}
