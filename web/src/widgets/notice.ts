/** A line that shows what just happened ("link copied"), also to screen readers. */
import { signal } from "@preact/signals";

export const notice = signal<string | null>(null);

let timer: ReturnType<typeof setTimeout> | undefined;

export function notify(text: string): void {
  notice.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => {
    notice.value = null;
  }, 2500);
}

/** Puts text on the clipboard, and says so. */
export async function copyText(text: string, what: string): Promise<void> {
  const copied = (await writeText(text)) || copySelected(text);
  notify(copied ? `${what} copied` : "the browser does not let this page copy");
}

/** The clipboard's API is there only where the page comes from this machine or over TLS. */
async function writeText(text: string): Promise<boolean> {
  if (!navigator.clipboard) return false;
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

/** Elsewhere, what is selected in a field can be copied. */
function copySelected(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return copied;
}
