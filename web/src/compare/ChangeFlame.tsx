/** The difference as a flame graph: orange has grown, blue has shrunk. */
import { useMemo, useRef, useState } from "preact/hooks";
import { useQuery } from "../engine/useQuery.ts";
import type { Chart } from "../flame/chart.ts";
import { ChartHost } from "../flame/ChartHost.tsx";
import { FocusPath } from "../flame/FocusPath.tsx";
import { boxLabelOfKey, focusForUrl, focusOrToplevel, labelOfKey } from "../flame/keys.ts";
import type { Box } from "../flame/rows.ts";
import type { Scene } from "../flame/scene.ts";
import { pathTo } from "../flame/tree.ts";
import type { ChangeStatus, CompareFlameResponse } from "../generated/responses.ts";
import { useKeys } from "../shell/keys.ts";
import { passOn } from "../shell/passOn.ts";
import { theme } from "../shell/theme.ts";
import { focus as focusInUrl, go } from "../state/page.ts";
import { Empty, ErrorMessage } from "../widgets/State.tsx";
import { amount, changePaints, FOCUS_PAINT, paintOf, signed, changeText, type Scale } from "./change.ts";
import { markOfSides, type Side } from "./sides.ts";
import { unionOf, type Union, type Width } from "./union.ts";

export interface ComparedSides {
  a: Side;
  b: Side;
  normalise: Scale;
}

const NO_COLOURS = new Uint8Array(0);
const LIMITS = { cutoff: 1 / 2000, limit: 4_000 };

export function ChangeFlame({ sides, width }: { sides: ComparedSides; width: Width }) {
  const focus = focusOrToplevel(focusInUrl.value);
  const { response, of, error, late } = useQuery<"compare", CompareFlameResponse>({
    query: "compare",
    ...sides,
    view: "flame",
    focus,
    ...LIMITS,
  });
  // What the response is about, which is not always what is asked now.
  const about = useMemo(() => (of ? (JSON.parse(of) as ComparedSides & { focus: readonly string[] }) : null), [of]);
  const union = useMemo(() => response && unionOf(response, width), [response, width]);
  const names = useMemo(() => response?.names.map(labelOfKey) ?? [], [response]);
  const labels = useMemo(() => response?.names.map(boxLabelOfKey) ?? [], [response]);
  const scene = useMemo(
    () => union && about && sceneOf(union, about.focus, labels, about.normalise),
    [union, about, labels],
  );
  const paints = useMemo(() => changePaints(theme.value), [theme.value]);
  const [selected, setSelected] = useState<Box | null>(null);
  const chart = useRef<Chart | null>(null);
  const toChart = (event: KeyboardEvent): void => passOn(chart.current?.element.parentElement ?? null, event);
  useKeys("Difference", [
    { keys: "ArrowUp ArrowDown k j", does: "along calls", run: toChart },
    { keys: "ArrowLeft ArrowRight h l", does: "next box in the row", run: toChart },
    { keys: "Enter", does: "take the selected box into the focus" },
    { keys: "+ -", does: "zoom in, out", run: toChart },
    { keys: "0", does: "whole width", run: () => chart.current?.zoomOut() },
  ]);

  if (error && !response) return <ErrorMessage error={error} />;
  if (!response || !about || !union || !scene) return <div class="flame-place" />;
  if (union.tree.size === 0 || scene.width <= 0)
    return <Empty title="Nothing passes through the focus on either side" />;

  const extend = (box: Box): void => {
    if (box.part !== "callees" || box.at === 0) return;
    const keys = pathTo(union.tree, box.at)
      .slice(1)
      .map((at) => response.names[union.tree.entity[at]!]!);
    go({ focus: focusForUrl([...about.focus, ...keys]) });
  };
  const at = selected && boxOf(selected);
  return (
    <>
      <div class="flame compare-flame">
        <div class="flame-tools">
          <FocusPath focus={focus} />
          <Legend />
        </div>
        <ChartHost
          scene={scene}
          paints={paints}
          subject={JSON.stringify(about)}
          label="Flame graph of the difference; the table has the same figures"
          dimmed={late || error !== null}
          onChart={(made) => (chart.current = made)}
          onSelect={setSelected}
          onExtend={extend}
          card={(box) => (
            <ChangeCard
              name={names[union.tree.entity[boxOf(box)]!] ?? ""}
              union={union}
              at={boxOf(box)}
              scale={about.normalise}
            />
          )}
        />
        <div class="flame-selection">
          {at !== null && at < union.tree.size ? (
            <>
              <strong class="clip">{names[union.tree.entity[at]!]}</strong>
              <span class="flame-selection-sums">{changeOf(union, at, about.normalise)}</span>
              <span class="grow" />
              <button
                type="button"
                class="button small"
                onClick={() => selected && extend(selected)}
                title="Enter, or a double click"
              >
                Extend focus
              </button>
            </>
          ) : (
            <span class="quiet clip">Click selects, double click takes into the focus, Shift+click zooms.</span>
          )}
        </div>
      </div>
      <div class="unseen" aria-live="polite">
        {at !== null &&
          at < union.tree.size &&
          `${names[union.tree.entity[at]!]}, ${changeOf(union, at, about.normalise)}`}
      </div>
    </>
  );
}

/** The focus is the root of the tree. */
function boxOf(box: Box): number {
  return box.part === "callees" ? box.at : 0;
}

function changeOf({ before, after, status }: Union, at: number, scale: Scale): string {
  const [old, now] = [before[at]!, after[at]!];
  return `${amount(old, scale, markOfSides())} → ${amount(now, scale, markOfSides())} (${signed(now - old, scale)}, ${changeText(status[at]!, old, now)})`;
}

const SIGNS: Readonly<Record<ChangeStatus, string>> = { new: "+ ", gone: "− ", same: "", grown: "", shrunk: "" };

function sceneOf(union: Union, focus: readonly string[], labels: readonly string[], scale: Scale): Scene {
  const { tree, before, after, status } = union;
  return {
    rows: { orientation: "flame", callers: 0, focus: focus.length, callees: Math.max(0, tree.rows - 1) },
    callees: tree,
    callers: null,
    focus: focus.map((key) => ({ label: labelOfKey(key), colour: FOCUS_PAINT })),
    sum:
      tree.size > 0 ? `${amount(before[0]!, scale, markOfSides())} → ${amount(after[0]!, scale, markOfSides())}` : "",
    width: tree.bytes[0] ?? 0,
    calleeColours: Uint8Array.from(status, (kind, at) => paintOf(kind, before[at]!, after[at]!)),
    callerColours: NO_COLOURS,
    label: (_, at) => SIGNS[status[at]!] + (labels[tree.entity[at]!] ?? ""),
  };
}

function ChangeCard({ name, union, at, scale }: { name: string; union: Union; at: number; scale: Scale }) {
  const [before, after, status] = [union.before[at]!, union.after[at]!, union.status[at]!];
  return (
    <>
      <div class="flame-card-name">{name}</div>
      <dl>
        <div>
          <dt>before</dt>
          <dd>{amount(before, scale, markOfSides())}</dd>
        </div>
        <div>
          <dt>after</dt>
          <dd>{amount(after, scale, markOfSides())}</dd>
        </div>
        <div>
          <dt>difference</dt>
          <dd>
            {signed(after - before, scale)}, {changeText(status, before, after)}
          </dd>
        </div>
      </dl>
    </>
  );
}

function Legend() {
  const paints = changePaints(theme.value);
  const sample = (status: ChangeStatus, before: number, after: number) => {
    const { fill, text } = paints[paintOf(status, before, after)]!;
    return (
      <>
        <span class="compare-sample" style={{ background: fill, color: text }}>
          {SIGNS[status].trim()}
        </span>
        {status === "same" ? "same, or uncertain" : status}
      </>
    );
  };
  return (
    <span class="compare-legend" title="Uncertain is a difference that sampling alone may explain">
      {sample("gone", 1, 0)}
      {sample("shrunk", 4, 2)}
      {sample("same", 1, 1)}
      {sample("grown", 2, 4)}
      {sample("new", 0, 1)}
    </span>
  );
}
