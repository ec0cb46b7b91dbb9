/**
 * The flame graph that is on the screen: it belongs to the newest response, but for the moment until
 * the names of its boxes have come. Else boxes would first be grey and then in colour.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { named, type NameBook } from "./names.ts";
import type { Scene } from "./scene.ts";

export interface Shown {
  readonly scene: Scene;
  /** What it is about: the recording, the focus, the way it is drawn. */
  readonly subject: string;
  readonly focus: readonly string[];
  readonly names: NameBook;
  /** Bytes of the whole selection. */
  readonly total: number;
}

/** Longer than names take, shorter than anyone waits for a picture. */
const PATIENCE_MS = 250;

export function useShown(next: Shown | null): Shown | null {
  const [impatient, setImpatient] = useState<Shown | null>(null);
  const last = useRef<Shown | null>(null);
  // Reading the signal draws again when names have come.
  void named.value;
  const ready = next === null || next === last.current || next.names.settled || impatient === next;
  useEffect(() => {
    if (ready) return undefined;
    const timer = setTimeout(() => setImpatient(next), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [next, ready]);
  if (ready) last.current = next;
  return last.current;
}
