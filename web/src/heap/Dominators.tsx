/** The dominator tree, as nested boxes and as a table. */
import { useState } from "preact/hooks";
import { useKeys } from "../shell/keys.ts";
import { passOn } from "../shell/passOn.ts";
import type { View } from "../shell/registry.ts";
import { go, page, param, withParam } from "../state/page.ts";
import type { Looks } from "../tables/Grid.tsx";
import { bytes, count, percent, ratio } from "../text/units.ts";
import { Segmented } from "../widgets/Segmented.tsx";
import { Empty, ErrorMessage } from "../widgets/State.tsx";
import type { BoxRow, ChildRow, NodeInfo, TreemapResponse } from "../generated/responses.ts";
import { WhoBelowButton } from "./join/Buttons.tsx";
import { showWhoBelow } from "./join/links.ts";
import type { NodeId } from "./node.ts";
import { queryHeapOnce, blockOf, openBlock, openNode, snapshot, useHeapQuery } from "./state.ts";
import { counts, OUTSIDE, sizes, withOutside } from "./table/columns.ts";
import { HeapTable } from "./table/HeapTable.tsx";
import type { Source } from "./table/rows.ts";
import { downTo, Trail } from "./Trail.tsx";
import { Treemap } from "./treemap/Treemap.tsx";

const node = param("node", "all");
const as = param("as", "map");
const MAX_BOXES = 1500;
const DEPTH = 8;

const AS = [
  { id: "map", title: "Map", what: "nested boxes" },
  { id: "tree", title: "Tree", what: "a table that opens" },
];

const COLUMNS = [
  sizes<ChildRow>("retained", "Retained", "what goes when it goes", 0, (row) => row.retained, false),
  sizes<ChildRow>("bytes", "Own", "size of the blocks themselves", 1, (row) => row.bytes, false),
  sizes<ChildRow>(
    OUTSIDE,
    "Off-heap",
    "bytes outside the heap that go with it",
    2,
    (row) => row.retained_external || null,
    false,
  ),
  counts<ChildRow>("blocks", "Blocks", "how many", 1, (row) => row.blocks || null, false),
];

function Dominators() {
  const table = as.value === "tree";
  const switcher = <Segmented label="how" options={AS} value={table ? "tree" : "map"} onChoose={(id) => as.set(id)} />;
  return table ? <Tree switcher={switcher} /> : <Map switcher={switcher} />;
}

function Map({ switcher }: { switcher: preact.ComponentChildren }) {
  const { response, error, late } = useHeapQuery({
    query: "heaptreemap",
    node: node.value,
    limit: MAX_BOXES,
    depth: DEPTH,
  });
  const [selection, setSelection] = useState<{ of: TreemapResponse | null; at: number }>({ of: null, at: -1 });
  const selected = selection.of === response ? selection.at : -1;
  const path = trailOf(response);
  const out = (): void => {
    const above = path.at(-2);
    if (above) openNode(above.node);
  };
  const toMap = (event: KeyboardEvent): void => passOn(document.querySelector<HTMLElement>(".treemap"), event);
  const boxes = response?.boxes ?? [];
  const box = boxes[selected];
  useKeys("Dominators", [
    { keys: "ArrowLeft ArrowRight", does: "the box before, the next", run: toMap },
    { keys: "ArrowDown ArrowUp", does: "into a box, out of it", run: toMap },
    { keys: "Enter", does: "zoom into the box, or look at the block" },
    { keys: "Backspace", does: "zoom out", run: out },
    { keys: "w", does: "who allocated what the box retains", run: () => box?.node && showWhoBelow(box.node) },
  ]);
  const whole = boxes[0]?.retained ?? 0;
  const open = (at: number): void => openBox(boxes, at);
  return (
    <div class="dominators">
      <div class="tables-tools">
        {switcher}
        <Trail path={path} />
      </div>
      {error && !response ? (
        <ErrorMessage error={error} />
      ) : response && whole === 0 ? (
        <Empty title="It retains nothing" />
      ) : (
        <Treemap
          boxes={boxes}
          label={
            response ? `Retained by ${boxes[0]?.name}, ${bytes(whole)}; the tree has the same figures` : "Retained"
          }
          dimmed={late}
          selected={selected}
          onSelect={(at) => setSelection({ of: response, at })}
          onOpen={open}
          onOut={out}
          card={(at) => <BoxCard box={boxes[at]!} whole={whole} all={path[0]} />}
        />
      )}
      <div class="tables-actions" aria-live="polite">
        {box ? (
          <>
            <strong class="clip">{box.name}</strong>
            <span class="quiet">
              retains {bytes(box.retained)}, {percent(ratio(box.retained, whole))}
              {box.blocks > 1 && ` · ${count(box.blocks)} blocks`}
            </span>
            <span class="grow" />
            {box.node && (
              <button type="button" class="button small" title="Enter" onClick={() => open(selected)}>
                {onlyBlock(box) !== null ? "The block" : "Zoom in"}
              </button>
            )}
            {box.node && <WhoBelowButton node={box.node} />}
            {box.node && blockOf(box.node) !== null && (
              <button type="button" class="button small plain" onClick={() => openBlock(blockOf(box.node!)!)}>
                Its page
              </button>
            )}
          </>
        ) : (
          <span class="quiet">click zooms in, Backspace zooms out, arrow keys go from box to box</span>
        )}
      </div>
    </div>
  );
}

function trailOf(response: TreemapResponse | null): readonly NodeInfo[] {
  const self = response?.boxes[0];
  return downTo(
    response?.path ?? [],
    self && {
      node: self.node ?? "all",
      name: self.name,
      retained: self.retained,
      retained_external: self.retained_external ?? 0,
    },
  );
}

/** The block that is all there is to see of a box that nothing hangs from. */
function onlyBlock({ node, own, retained, blocks, largest }: BoxRow): number | null {
  if (node === null || own < retained) return null;
  return blockOf(node) ?? (blocks === 1 ? (largest ?? null) : null);
}

/** Zooms into a box; a block that keeps nothing but itself is looked at. */
function openBox(boxes: readonly BoxRow[], at: number): void {
  const box = boxes[at];
  if (!box) return;
  const block = onlyBlock(box);
  if (block !== null) openBlock(block);
  else if (box.node !== null) openNode(box.node);
  // What is summed up is shown by the table of what it is in.
  else openTree(boxes[box.parent]?.node ?? "all");
}

function openTree(of: NodeId): void {
  const more = withParam(page.value.more, "node", of === "all" ? "" : of);
  go({ view: "dominators", more: withParam(more, "as", "tree") });
}

function BoxCard({ box, whole, all }: { box: BoxRow; whole: number; all: NodeInfo | undefined }) {
  return (
    <>
      <div class="flame-card-name">{box.name}</div>
      <dl>
        <div>
          <dt>retains</dt>
          <dd>{bytes(box.retained)}</dd>
        </div>
        <div>
          <dt>of what is shown</dt>
          <dd>{percent(ratio(box.retained, whole))}</dd>
        </div>
        {all && all.retained !== whole && (
          <div>
            <dt>of the heap</dt>
            <dd>{percent(ratio(box.retained, all.retained))}</dd>
          </div>
        )}
        {(box.retained_external ?? 0) > 0 && (
          <div>
            <dt>outside the heap</dt>
            <dd>{bytes(box.retained_external ?? 0)}</dd>
          </div>
        )}
        {box.blocks > 0 && (
          <div>
            <dt>blocks</dt>
            <dd>{count(box.blocks)}</dd>
          </div>
        )}
      </dl>
    </>
  );
}

const TREE: Looks<ChildRow> = {
  label: "The dominator tree",
  nameTitle: "Root, or kind of block",
  nameSorts: false,
  // Numbers of blocks and roots are those of one snapshot.
  key: (row) => `${snapshot.value?.number} ${row.node}`,
  share: (row) => row.share,
  name: (row) => row.name,
  placeTitle: "",
  place: (row) => (row.what === "block" ? `block ${blockOf(row.node) ?? ""}` : row.what === "holder" ? "root" : ""),
};

function Tree({ switcher }: { switcher: preact.ComponentChildren }) {
  const { response } = useHeapQuery({ query: "heapchildren", node: node.value, offset: 0, limit: 1 });
  const source = (): Source<ChildRow> => ({
    load: (above, offset, limit, signal) =>
      queryHeapOnce({ query: "heapchildren", node: above?.node ?? node.value, offset, limit }, signal),
    opens: (row) => row.opens,
  });
  return (
    <HeapTable
      id="tree"
      title="Dominators"
      subject={`${snapshot.value?.number} ${node.value}`}
      source={source}
      columns={withOutside(COLUMNS, (response?.node.retained_external ?? 0) > 0)}
      looks={TREE}
      first="retained"
      finds={false}
      nothing="It retains nothing else"
      tools={
        <>
          {switcher}
          <Trail path={downTo(response?.path ?? [], response?.node)} />
        </>
      }
      across={(row) => showWhoBelow(row.node)}
      actions={(row) => <ChildActions row={row} />}
    />
  );
}

/** What can be done with something in the dominator tree. */
function ChildActions({ row }: { row: ChildRow }) {
  const block = blockOf(row.node) ?? row.largest;
  return (
    <>
      {block !== null && (
        <button type="button" class="button small" onClick={() => openBlock(block)}>
          {row.what === "block" ? "The block" : "The largest of them"}
        </button>
      )}
      <WhoBelowButton node={row.node} />
      {row.opens && (
        <button type="button" class="button small plain" onClick={() => openNode(row.node)}>
          Only below it
        </button>
      )}
    </>
  );
}

export const dominatorsView: View = {
  id: "dominators",
  half: "heap",
  title: "Dominators",
  what: "The dominator tree: what retains what, as nested boxes or a table",
  Component: Dominators,
};
