/** Which rows of a table are selected: by what they are, so that they stay selected wherever they go. */
import { useMemo, useState } from "preact/hooks";
import type { GridRows } from "./gridRows.ts";
import type { Line } from "./outline.ts";

interface SelectionState<R> {
  /** What the rows were about. */
  subject: string;
  /** Ids of the rows that the keyboard is at, and that a range begins with; null: the first row. */
  cursor: string | null;
  anchor: string | null;
  /** In place of the cursor as long as the row there has not come. */
  awaited: number | null;
  /** By id, as they were when they were selected. */
  lines: ReadonlyMap<string, Line<R>>;
}

export interface Selection<R> {
  /** The id of the row of the cursor; null where nobody has selected, and it is the first row. */
  id: string | null;
  /** The line of the cursor; -1 where its row is not among those that are there. */
  cursor: number;
  /** The row of the cursor. */
  line: Line<R> | null;
  /** All selected rows, in the order of the table. */
  selected(): R[];
  has(line: Line<R>): boolean;
  /** Chooses a line, or all from where the choice began up to it. */
  move(index: number, extend: boolean): void;
}

/** `subject` is what rows are about: what was known of a row tells nothing about another subject. */
export function useSelection<R>(rows: GridRows<R>, subject: string): Selection<R> {
  const [state, set] = useState<SelectionState<R>>({
    subject,
    cursor: null,
    anchor: null,
    awaited: null,
    lines: new Map(),
  });
  const change = rows.changes.value;
  return useMemo(() => {
    void change;
    const idAt = (index: number): string | null => {
      const line = rows.line(index);
      return line && rows.idOf(line);
    };
    const indexOf = (id: string | null): number => (id === null ? 0 : rows.find(id));
    const { awaited } = state;
    const cursorId = awaited === null ? state.cursor : idAt(awaited);
    const cursor = awaited ?? indexOf(state.cursor);
    const remembered = (id: string | null): Line<R> | null =>
      (id !== null && state.subject === subject && state.lines.get(id)) || null;
    const isFirst = state.lines.size === 0 && awaited === null;
    return {
      id: isFirst ? null : cursorId,
      cursor,
      line: cursor >= 0 ? rows.line(cursor) : remembered(cursorId),
      has: (line) => {
        const id = rows.idOf(line);
        return isFirst ? id === idAt(0) : id !== null && (state.lines.has(id) || id === cursorId);
      },
      selected: () => {
        const ids = new Set([...state.lines.keys(), ...(cursorId === null ? [] : [cursorId])]);
        if (isFirst) return [rows.line(0)?.row].filter((row) => row !== undefined);
        const found = [...ids].map((id) => ({ id, index: rows.find(id) }));
        found.sort((a, b) => (a.index < 0 ? Infinity : a.index) - (b.index < 0 ? Infinity : b.index) || 0);
        return found
          .map(({ id, index }) => (index >= 0 ? rows.line(index) : remembered(id))?.row)
          .filter((row) => row !== undefined);
      },
      move: (index, extend) => {
        const id = idAt(index);
        const anchor = extend ? (state.anchor ?? idAt(0)) : id;
        const from = extend ? indexOf(anchor) : index;
        const lines = new Map<string, Line<R>>();
        for (let at = Math.min(from < 0 ? index : from, index); at <= Math.max(from, index); at++) {
          const line = rows.line(at);
          const id = line && rows.idOf(line);
          if (line && id !== null) lines.set(id, line);
        }
        set({ subject, cursor: id, anchor, awaited: id === null ? index : null, lines });
      },
    };
  }, [rows, change, state, subject]);
}
