/** The trees that a flame graph shows: what the engine answered, and detail where the view is near. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { queryOnce, useQuery, type QueryState } from "../engine/useQuery.ts";
import type { FlameResponse } from "../generated/responses.ts";
import { filter, rec } from "../state/page.ts";
import { side } from "./side.ts";
import type { Chart } from "./chart.ts";
import { FINEST, detailRequest, type Known } from "./detail.ts";
import { graft } from "./graft.ts";
import { namesOf } from "./names.ts";
import type { Direction } from "./rows.ts";
import { treeOf } from "./scene.ts";
import { recursion } from "./transforms.ts";
import { layOut, pathTo, type Tree } from "./tree.ts";

/** Most boxes in a response: 25 bytes each. */
const MAX_BOXES = 6_000;

/** What a flame graph is about. */
export interface FlameQuery {
  readonly rec: number;
  readonly filter: readonly string[];
  readonly focus: readonly string[];
  readonly direction: Direction;
  readonly recursion: "folded" | "shown";
}

export interface Trees {
  readonly callees: Tree | null;
  readonly callers: Tree | null;
  readonly response: Pick<FlameResponse, "total" | "focus_bytes">;
  /** What was asked: while the user is quick, not what is asked now. */
  readonly query: FlameQuery;
  /** What the width stands for where that is not bytes: seconds, or bytes allocated before. */
  readonly extent: number | null;
}

interface Grafted {
  readonly trees: Trees;
  readonly known: readonly Known[];
}

export interface Flame {
  state: QueryState<Pick<FlameResponse, "total" | "focus_bytes">>;
  trees: Trees | null;
  /** Asks for what the view has come too near for. */
  refine(chart: Chart): void;
}

/** The flame graph of a focus; nothing if it is not wanted. */
export function useFlame(focus: readonly string[], direction: Direction, wanted: boolean): Flame {
  const state = useQuery(
    wanted
      ? {
          query: "flame",
          rec: rec.value,
          filter: filter.value,
          focus,
          direction,
          recursion: recursionOf(),
          cutoff: FINEST,
          limit: MAX_BOXES,
        }
      : null,
  );
  const { response, of } = state;
  const base = useMemo<Trees | null>(
    () =>
      response && of ? { ...layOutBoth(response), response, query: JSON.parse(of) as FlameQuery, extent: null } : null,
    [response, of],
  );
  const [grafted, setGrafted] = useState<Grafted | null>(null);
  const current = grafted && grafted.trees.response === response ? grafted : null;
  const trees = current?.trees ?? base;

  const pending = useRef<AbortController | null>(null);
  useEffect(() => () => pending.current?.abort(), [response]);

  const refine = (chart: Chart): void => {
    const scene = chart.shown;
    if (!scene || !trees || scene.callees !== trees.callees || scene.callers !== trees.callers) return;
    const known = current?.known ?? [];
    const wanted = detailRequest(scene, { view: chart.viewport, visible: chart.window.visible }, known);
    if (!wanted || !state.fresh) return;
    pending.current?.abort();
    const stop = new AbortController();
    pending.current = stop;
    const tree = treeOf(scene, wanted.part)!;
    void (async () => {
      const path = pathTo(tree, wanted.at).slice(1);
      const { rec, filter, focus, recursion } = trees.query;
      const found = await namesOf(rec).all(path.map((box) => tree.entity[box]!));
      const keys = found.map((name) => name.key);
      if (stop.signal.aborted || keys.length !== path.length) return;
      const callees = wanted.part === "callees";
      const detail = await queryOnce(
        {
          query: "flame",
          rec,
          filter,
          focus: callees
            ? shortened([...focus, ...keys].toReversed()).toReversed()
            : shortened([...keys.toReversed(), ...focus]),
          direction: wanted.part,
          recursion,
          cutoff: wanted.cutoff,
          limit: MAX_BOXES,
        },
        stop.signal,
      );
      const columns = side(detail.columns, callees ? "down" : "up");
      if (stop.signal.aborted || !columns || !sameWeight(columns.bytes[0], tree.bytes[wanted.at])) return;
      setGrafted({
        trees: { ...trees, [wanted.part]: graft(tree, wanted.at, columns) },
        known: [...known, wanted.known],
      });
    })().catch(() => {
      // What is shown stays; the next move of the view asks again.
    });
  };
  return { state, trees, refine };
}

/** What the address asks for. */
export const recursionOf = (): FlameQuery["recursion"] => (recursion.value === "shown" ? "shown" : "folded");

/** Letters that the keys in a query may have. */
const MAX_FOCUS_LEN = 150_000;

/**
 * The first keys of a path, as many as a query has room for. Fewer functions may be called from
 * elsewhere, too: then the response is heavier, and of no use.
 */
function shortened(keys: readonly string[]): string[] {
  let room = MAX_FOCUS_LEN;
  const end = keys.findIndex((key) => (room -= key.length + 3) < 0);
  return keys.slice(0, end < 0 ? keys.length : end);
}

function sameWeight(a: number | undefined, b: number | undefined): boolean {
  return a !== undefined && b !== undefined && Math.abs(a - b) <= 1e-9 * Math.max(a, b);
}

function layOutBoth(response: NonNullable<QueryState<FlameResponse>["response"]>) {
  const down = side(response.columns, "down");
  const up = side(response.columns, "up");
  return { callees: down && layOut(down), callers: up && layOut(up) };
}
