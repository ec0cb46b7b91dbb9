/** The paths from the roots, merged by shape, as a flame graph: widths are true retained sizes. */
import "../../flame/flame.css";
import { useMemo, useRef, useState } from "preact/hooks";
import type { Chart } from "../../flame/chart.ts";
import { ChartHost } from "../../flame/ChartHost.tsx";
import { palette } from "../../flame/colour.ts";
import type { Box as Place } from "../../flame/rows.ts";
import type { Scene } from "../../flame/scene.ts";
import { useKeys } from "../../shell/keys.ts";
import { passOn } from "../../shell/passOn.ts";
import type { View } from "../../shell/registry.ts";
import { theme } from "../../shell/theme.ts";
import { go, page, param, withParam } from "../../state/page.ts";
import { blocks, bytes, count, percent, ratio } from "../../text/units.ts";
import { Empty, ErrorMessage } from "../../widgets/State.tsx";
import type { BoxRow, NodeInfo } from "../../generated/responses.ts";
import { given } from "../kindColour.ts";
import { WhoBelowButton } from "../join/Buttons.tsx";
import { blockOf, openBlock, openNode, snapshot, useHeapQuery } from "../state.ts";
import { sceneOf } from "./scene.ts";
import { KindField } from "./KindField.tsx";

const node = param("node", "all");
const to = param("to", "");
const MAX_BOXES = 4000;

function Paths() {
  const { response, error, late } = useHeapQuery({
    query: "heapflame",
    node: node.value,
    limit: MAX_BOXES,
    ...(to.value ? { kind: to.value } : {}),
  });
  const [selected, setSelected] = useState<Place | null>(null);
  const chart = useRef<Chart | null>(null);
  const scene = useMemo<Scene | null>(
    () => (response && response.total > 0 ? sceneOf(response.boxes) : null),
    [response, given.value],
  );
  const paints = useMemo(() => palette(theme.value), [theme.value]);
  const boxAt = (place: Place): BoxRow | undefined => {
    if (!response || !scene) return undefined;
    return place.part === "focus" ? response.boxes[0] : response.boxes[scene.callees?.origin[place.at] ?? -1];
  };
  const follow = (place: Place): void => {
    const box = boxAt(place);
    if (box?.node) openNode(box.node);
  };
  const below = (box: BoxRow): void => go({ more: withParam(page.value.more, "node", box.node ?? "") });
  const toChart = (event: KeyboardEvent): void => passOn(chart.current?.element.parentElement ?? null, event);
  useKeys("Paths", [
    { keys: "ArrowUp ArrowDown k j", does: "towards the root, away from it", run: toChart },
    { keys: "ArrowLeft ArrowRight h l", does: "next box in the row", run: toChart },
    { keys: "Enter", does: "what the box retains" },
    { keys: "Shift+Enter", does: "zoom to the selected box" },
    { keys: "+ -", does: "zoom in, out", run: toChart },
    { keys: "0", does: "whole width", run: () => chart.current?.zoomOut() },
  ]);
  const box = selected && boxAt(selected);
  const block = box?.node ? blockOf(box.node) : null;
  return (
    <div class="flame">
      <div class="flame-tools">
        <KindField param={to} />
        {node.value !== "all" && response?.boxes[0] && (
          <span class="below-of">
            below <strong class="clip">{response.boxes[0].name}</strong>
            <button type="button" class="button small plain" onClick={() => node.set("all")}>
              all roots
            </button>
          </span>
        )}
        <span class="grow" />
        {response && (
          <span class="quiet">
            {bytes(response.total)} retained{to.value && " by the topmost of them"}
          </span>
        )}
      </div>
      {scene && response ? (
        <ChartHost
          scene={scene}
          paints={paints}
          subject={`${snapshot.value?.number} ${node.value} ${to.value}`}
          label={`Paths from the roots to ${to.value || "everything"}, ${bytes(response.total)}; the dominators have the same figures`}
          dimmed={late}
          onChart={(made) => (chart.current = made)}
          onSelect={setSelected}
          onExtend={follow}
          card={(place) => <Card box={boxAt(place)} whole={response.total} />}
        />
      ) : error ? (
        <ErrorMessage error={error} />
      ) : (
        <div class="flame-place">
          {response && <Empty title={to.value ? `No path leads to ${to.value}` : "Nothing is live"} />}
        </div>
      )}
      <div class="flame-selection" aria-live="polite">
        {box ? (
          <>
            <strong class="clip">{box.name}</strong>
            <span class="flame-selection-sums">
              retains {bytes(box.retained)}, {percent(ratio(box.retained, response?.total ?? 0))}
            </span>
            <span class="quiet flame-selection-more">{blocks(box.blocks)}</span>
            <span class="grow" />
            {block !== null && (
              <button type="button" class="button small" onClick={() => openBlock(block)}>
                The largest block
              </button>
            )}
            {box.node && <WhoBelowButton node={box.node} />}
            {box.node && (
              <button type="button" class="button small plain" onClick={() => below(box)}>
                Only below it
              </button>
            )}
          </>
        ) : (
          <span class="quiet">roots on top; each box is as wide as what it retains</span>
        )}
      </div>
    </div>
  );
}

function Card({ box, whole }: { box: BoxRow | undefined; whole: NodeInfo["retained"] }) {
  if (!box) return null;
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
        <div>
          <dt>itself</dt>
          <dd>{bytes(box.own)}</dd>
        </div>
        <div>
          <dt>blocks</dt>
          <dd>{count(box.blocks)}</dd>
        </div>
      </dl>
    </>
  );
}

export const pathsView: View = {
  id: "paths",
  half: "heap",
  title: "Paths",
  what: "The paths from the roots, merged, as a flame graph of retained sizes",
  Component: Paths,
};
