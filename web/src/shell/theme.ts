/** Light or dark: what the system says, unless the user chose. */
import { computed, signal } from "@preact/signals";

export type Theme = "light" | "dark";

const STORED_AS = "memtrail theme";
const system = signal<Theme>("light");
const selected = signal<Theme | null>(null);

/** The theme in use. Canvases read it, so that they draw again when it changes. */
export const theme = computed<Theme>(() => selected.value ?? system.value);

/** Follows the system's theme and what was selected earlier. */
export function followTheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const read = () => {
    system.value = dark.matches ? "dark" : "light";
  };
  read();
  dark.addEventListener("change", read);
  const stored = recall();
  if (stored === "light" || stored === "dark") choose(stored);
}

export function toggleTheme(): void {
  choose(theme.value === "dark" ? "light" : "dark");
}

function choose(next: Theme): void {
  document.documentElement.dataset.theme = next;
  selected.value = next;
  try {
    localStorage.setItem(STORED_AS, next);
  } catch {
    // A page from disk may have no storage: the choice then lasts as long as the page.
  }
}

function recall(): string | null {
  try {
    return localStorage.getItem(STORED_AS);
  } catch {
    return null;
  }
}

const resolved = new Map<string, string>();

/** The colour of a custom property (`--major`) in the theme in use, for canvases. */
export function themeColor(name: `--${string}`): string {
  const key = `${theme.value} ${name}`;
  let color = resolved.get(key);
  if (color === undefined) {
    const probe = document.createElement("span");
    probe.style.color = `var(${name})`;
    // Otherwise every colour is that of the text where colours are forced.
    probe.style.forcedColorAdjust = "none";
    document.documentElement.append(probe);
    color = getComputedStyle(probe).color;
    probe.remove();
    resolved.set(key, color);
  }
  return color;
}
