/** A line that tells what just happened ("link copied"), also to screen readers. */
import { signal } from "@preact/signals";

export const notice = signal<string | null>(null);

let timer: ReturnType<typeof setTimeout> | undefined;

export function tell(text: string): void {
  notice.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => {
    notice.value = null;
  }, 2500);
}

/** Puts text on the clipboard, and says so. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    tell(`${what} copied`);
  } catch {
    tell(`the browser does not let this page copy`);
  }
}
