/** The source line of what is selected in a view, for the panel that shows it. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export interface Place {
  /** As the recording calls it. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 0, as compilers count. */
  readonly column: number;
}

/** Id of the panel. */
export const SOURCE = "source";

export const place = signal<Place | null>(null);

/** Shows where something is, unless nothing is selected: then what was shown stays. */
export function useSourceOf(selected: Place | null | undefined): void {
  const text = selected && JSON.stringify(selected);
  useEffect(() => {
    if (text) place.value = JSON.parse(text) as Place;
  }, [text]);
}

/** A place, if it is known that far. */
export function placeOf(
  of: { file: string | null; line: number | null; start?: number | null } | undefined,
): Place | null {
  if (!of?.file || of.line === null) return null;
  return { file: of.file, line: of.line, column: of.start ?? 0 };
}

/** The address that opens a place in an editor. */
export function editorAddress(template: string, path: string, line: number, column: number): string {
  const parts: Readonly<Record<string, string>> = {
    path: path.split("/").map(encodeURIComponent).join("/"),
    line: String(line),
    column: String(column),
  };
  return template.replace(/\{(path|line|column)\}/g, (_, name: string) => parts[name]!);
}
