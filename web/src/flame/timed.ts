/** The flame graph in the order of time: what the engine answered, finer where the view is near. */
import { useMemo, useState } from "preact/hooks";
import { useQuery } from "../engine/useQuery.ts";
import type { Columns } from "../engine/slab.ts";
import { filter, param, rec } from "../state/page.ts";
import type { Chart } from "./chart.ts";
import { recursionOf, type Flame, type FlameQuery, type Trees } from "./trees.ts";
import { layOut, type Tree } from "./tree.ts";

/** What the width of the flame graph stands for. */
export type Order = "size" | "time" | "allocation";

const order = param("order", "size");

export const orderOf = (): Order => (order.value === "time" || order.value === "allocation" ? order.value : "size");
export const setOrder = (wanted: string): void => order.set(wanted);

/** Columns that the width, and the stretch that is looked at, are divided into. */
const COLUMNS = 1_500;
/** Closer than this, a stretch gets columns of its own; the same stretch again from this much closer on. */
const NEAR = 0.7;
const CLOSER = 3;

interface Near {
  readonly subject: string;
  readonly from: number;
  readonly to: number;
}

export function useTimed(focus: readonly string[], order: Order): Flame {
  const subject = JSON.stringify([rec.value, filter.value, focus, order, recursionOf()]);
  const [near, setNear] = useState<Near | null>(null);
  const stretch = near?.subject === subject ? { from: near.from, to: near.to } : {};
  const state = useQuery(
    order === "size"
      ? null
      : {
          query: "timeorder",
          rec: rec.value,
          filter: filter.value,
          focus,
          order,
          recursion: recursionOf(),
          columns: COLUMNS,
          ...stretch,
        },
  );
  const { response, of } = state;
  const trees = useMemo<Trees | null>(() => {
    if (!response || !of) return null;
    const query = { ...(JSON.parse(of) as FlameQuery), direction: "callees" as const };
    return { callees: timedTree(response.columns), callers: null, response, query, extent: response.extent };
  }, [response, of]);

  const refine = (chart: Chart): void => {
    if (!response || !state.fresh) return;
    const { from, to } = chart.viewport;
    const width = to - from;
    const [left, right] = [from * response.extent, to * response.extent];
    const current = near?.subject === subject ? near : null;
    const known = current && current.from <= left && current.to >= right ? current.to - current.from : response.extent;
    if (width > NEAR || (right - left) * CLOSER > known) return;
    const margin = (right - left) / 2;
    setNear({ subject, from: Math.max(0, left - margin), to: right + margin });
  };
  return { state, trees, refine };
}

/** The boxes where the engine says that they are, not as wide as they are heavy. */
function timedTree(columns: Columns): Tree {
  const parent = columns.u32("down_parent");
  const unknown = new Float32Array(parent.length).fill(NaN);
  const tree = layOut({
    parent,
    entity: columns.u32("down_entity"),
    bytes: columns.f64("down_bytes"),
    blocks: unknown,
    lifetime: unknown,
    more: columns.u8("down_more"),
  });
  const [left, right] = [columns.f64("down_left"), columns.f64("down_right")];
  for (let box = 0; box < tree.size; box++) {
    tree.left[box] = left[tree.origin[box]!]!;
    tree.right[box] = right[tree.origin[box]!]!;
  }
  return tree;
}
