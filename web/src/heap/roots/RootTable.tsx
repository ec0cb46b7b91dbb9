/** A table of roots: buttons for their kinds, what two have in common, and the way to what one retains. */
import type { ComponentChildren } from "preact";
import { param } from "../../state/page.ts";
import type { Looks } from "../../tables/Grid.tsx";
import type { Column } from "../../tables/columns.ts";
import { openNode, snapshot } from "../state.ts";
import type { NodeId } from "../node.ts";
import { HeapTable, type Order } from "../table/HeapTable.tsx";
import type { Source } from "../table/rows.ts";
import { RootKinds } from "./RootKinds.tsx";
import { Shared } from "./Shared.tsx";

/** The kind of roots that is left in the table; all, if empty. */
export const rootKind = param("roots-kind", "");

interface Row {
  node: NodeId;
  name: string | null;
}

interface Props<R> {
  switcher: ComponentChildren;
  kinds: readonly { kind: string; bytes: number; roots: number }[];
  does: "owned" | "retained";
  source(order: Order): Source<R>;
  columns: readonly Column<R>[];
  looks: Looks<R>;
  nothing: string;
  /** What is in a root: what it opens. */
  inside(row: R): NodeId;
  /** Leads to who allocated it. */
  across(row: R): void;
  /** Further buttons for a row. */
  actions?(row: R): ComponentChildren;
}

export function RootTable<R extends Row>(props: Props<R>) {
  const { inside, does } = props;
  return (
    <HeapTable
      id="roots"
      title="Roots"
      subject={`${snapshot.value?.number} ${rootKind.value}`}
      source={props.source}
      columns={props.columns}
      looks={props.looks}
      first={does}
      nothing={props.nothing}
      open={(row) => openNode(inside(row))}
      across={props.across}
      opensWhat="what it retains; two selected with Shift: what they share"
      tools={
        <>
          {props.switcher}
          <RootKinds kinds={props.kinds} selected={rootKind} does={does} />
        </>
      }
      actions={(row, selected) => (
        <>
          {selected.length === 2 && <Shared a={selected[0]!} b={selected[1]!} />}
          <button
            type="button"
            class="button small"
            title="Enter, or a double click"
            onClick={() => openNode(inside(row))}
          >
            What it retains
          </button>
          {props.actions?.(row)}
        </>
      )}
    />
  );
}
