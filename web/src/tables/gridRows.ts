import type { ReadonlySignal } from "@preact/signals";
import type { Line } from "./outline.ts";

/** Rows as the grid needs them: some not there yet, some open. */
export interface GridRows<R> {
  readonly changes: ReadonlySignal<number>;
  readonly size: number;
  line(index: number): Line<R> | null;
  /** Rows from one index up to another are looked at. */
  need(from: number, to: number): void;
  canOpen(line: Line<R>): boolean;
  isOpen(line: Line<R>): boolean;
  isWaiting(line: Line<R>): boolean;
  toggle(line: Line<R>, open: boolean): void;
  /** What identifies a row, wherever it is; null as long as it is not there. */
  idOf(line: Line<R>): string | null;
  /** The line of the row with this id, or -1 where it is not among those that are there. */
  find(id: string): number;
  /** Asks for more rows until that one is among them; not for all of very many. */
  seek(id: string): Promise<void>;
}
