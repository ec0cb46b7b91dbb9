/** The flame graph: the focus in the middle, who was called on one side, who called on the other. */
import "./flame.css";
import { useSignal } from "@preact/signals";
import { useMemo, useRef, useState } from "preact/hooks";
import type { QueryState } from "../engine/useQuery.ts";
import { joins, showWhy } from "../heap/join/links.ts";
import { useKeys } from "../shell/keys.ts";
import { passOn } from "../shell/passOn.ts";
import type { View } from "../shell/registry.ts";
import { theme } from "../shell/theme.ts";
import { useSourceOf } from "../source/place.ts";
import { focus as focusInUrl, go, param } from "../state/page.ts";
import { estimatedBytes as bytes } from "../state/estimates.ts";
import { percent, ratio } from "../text/units.ts";
import { Icon } from "../widgets/Icon.tsx";
import { openMenu } from "../widgets/Menu.tsx";
import { Segmented } from "../widgets/Segmented.tsx";
import { Empty, ErrorMessage } from "../widgets/State.tsx";
import { useBytesBefore } from "./before.ts";
import { FactsCard } from "./Card.tsx";
import type { Chart } from "./chart.ts";
import { ChartHost } from "./ChartHost.tsx";
import { palette } from "./colour.ts";
import { ColourKey } from "./ColourKey.tsx";
import { factsOf, spoken, type Facts } from "./facts.ts";
import { extended, extending } from "./focusing.ts";
import { FocusPath } from "./FocusPath.tsx";
import { focusForUrl, focusOrToplevel, TOPLEVEL } from "./keys.ts";
import { coloured, sceneOf, wantNames } from "./colouring.ts";
import { matchAt, matches, nextMatch } from "./matches.ts";
import { named, namesOf } from "./names.ts";
import type { Box, Direction, Orientation } from "./rows.ts";
import { SearchBox, useSearch } from "./SearchBox.tsx";
import { Selection } from "./Selection.tsx";
import { useShown, type Shown } from "./shown.ts";
import { orderOf, setOrder, useTimed } from "./timed.ts";
import { TimeAxis } from "./TimeAxis.tsx";
import { recursion, transformsOf } from "./transforms.ts";
import { useFlame } from "./trees.ts";

const direction = param("dir", "both");
const orientation = param("up", "flame");

const DIRECTIONS = [
  { id: "both", title: "Both", what: "callees on one side of the focus, callers on the other" },
  { id: "callees", title: "Callees", what: "what the focus called, down to the allocations" },
  { id: "callers", title: "Callers", what: "who called the focus" },
];
const ORDERS = [
  { id: "size", title: "Size", what: "boxes are as wide as what they allocate" },
  { id: "time", title: "Time", what: "in the order of time: from left to right, seconds" },
  { id: "allocation", title: "Allocated", what: "in the order of time: from left to right, what was allocated" },
];
const ORIENTATIONS = [
  { id: "flame", title: "Flame", what: "callees upwards" },
  { id: "icicle", title: "Icicle", what: "callees downwards" },
];
/** Boxes at least this wide on the screen, in shares of it, get their names and colours. */
const NAMED_SHARE = 1 / 1500;

function Flame() {
  const focus = focusOrToplevel(focusInUrl.value);
  const [selected, setSelected] = useState<Box | null>(null);
  const chart = useRef<Chart | null>(null);
  const [drawn, setDrawn] = useState<Chart | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const side = DIRECTIONS.some(({ id }) => id === direction.value) ? (direction.value as Direction) : "both";
  const upwards: Orientation = orientation.value === "icicle" ? "icicle" : "flame";

  const order = orderOf();
  const bySize = useFlame(focus, side, order === "size");
  const byTime = useTimed(focus, order);
  const { state, trees, refine } = order === "size" ? bySize : byTime;
  const moves = useSignal(0);
  const found = useSearch(focus);
  const next = useMemo<Shown | null>(() => {
    if (!trees || trees.response.focus_bytes <= 0) return null;
    const { total, focus_bytes: sum } = trees.response;
    const { rec, focus, direction, recursion } = trees.query;
    const names = namesOf(rec);
    const text = `${bytes(sum)}, ${percent(ratio(sum, total))}`;
    const timed = order === "size" ? undefined : order;
    const scene = sceneOf(trees, focus, upwards, text, names, timed);
    wantNames(scene, chart.current?.viewport ?? { from: 0, to: 1, top: 0 }, NAMED_SHARE, names);
    return {
      scene,
      subject: `${rec} ${order} ${direction} ${recursion} ${upwards} ${focus.join("\n")}`,
      focus,
      names,
      total,
    };
  }, [trees, upwards, order]);
  const shown = useShown(next);
  const count = named.value;
  const scene = useMemo(
    () => shown && coloured(shown.scene, shown.names, found.entities),
    [shown, count, found.entities],
  );
  const matching = useMemo(
    () => (scene && found.entities ? matches(scene, found.entities) : []),
    [scene, found.entities],
  );
  const paints = useMemo(() => palette(theme.value), [theme.value]);

  const factsAt = (box: Box): Facts | null =>
    scene && shown && factsOf(scene, shown.total, shown.focus, shown.names, box);
  const facts = selected && factsAt(selected);
  useSourceOf(facts?.source);
  const before = useBytesBefore(shown, selected);

  const extend = (box: Box): void => {
    if (!shown) return;
    void extended(shown.scene, shown.focus, shown.names, box).then((wanted) => {
      if (wanted) go({ focus: focusForUrl(wanted) });
    });
  };
  const toMatch = (step: 1 | -1): void => {
    const box = nextMatch(matching, selected, step);
    if (box) chart.current?.select(box);
  };
  const toChart = (event: KeyboardEvent): void => passOn(chart.current?.element.parentElement ?? null, event);
  useKeys("Flame graph", [
    { keys: "ArrowUp ArrowDown k j", does: "along calls: heaviest callee, caller", run: toChart },
    { keys: "ArrowLeft ArrowRight h l", does: "next box in the row", run: toChart },
    { keys: "Enter", does: "take the selected box into the focus" },
    { keys: "Shift+Enter", does: "zoom to the selected box" },
    { keys: "+ -", does: "zoom in, out", run: toChart },
    { keys: "0", does: "whole width", run: () => chart.current?.zoomOut() },
    { keys: "PageUp PageDown Home End", does: "scroll deep stacks", run: toChart },
    {
      keys: "Backspace",
      does: "shorten the focus",
      run: () => go({ focus: focusForUrl(focus.slice(0, -1)) }),
    },
    ...(joins.value
      ? [{ keys: "w", does: "what retains what the selected box allocated", run: () => whyOfBox(facts) }]
      : []),
    { keys: "m Shift+F10", does: "menu of the selected box", run: toChart },
    { keys: "u", does: "undo the last change", run: () => history.back() },
    { keys: "n", does: "next match of the search", run: () => toMatch(1) },
    { keys: "N", does: "previous match", run: () => toMatch(-1) },
    { keys: "/", does: "search", run: () => field.current?.select() },
    { keys: "Ctrl+wheel", does: "zoom" },
  ]);

  const menuOf = (box: Box, at: { x: number; y: number }): void => {
    const facts = factsAt(box);
    if (!facts) return;
    const zoom = () => chart.current?.zoomTo(box);
    const subtree = box.part === "focus" ? undefined : () => extend(box);
    const path = shown && subtree ? () => extended(shown.scene, shown.focus, shown.names, box) : undefined;
    openMenu(facts.name, transformsOf(facts, { subtree, zoom, path }), at);
  };

  const label = selected && shown && extending(selected, shown.focus);

  return (
    <div class="flame">
      <div class="flame-tools">
        <FocusPath focus={focus} />
        <SearchBox
          found={found}
          field={field}
          boxes={{ at: matchAt(matching, selected), of: matching.length }}
          next={toMatch}
        />
        <Segmented label="what the width is" options={ORDERS} value={order} onChoose={setOrder} />
        {order === "size" && (
          <Segmented
            label="sides of the focus"
            options={DIRECTIONS}
            value={side}
            onChoose={(id) => direction.set(id)}
          />
        )}
        <Segmented
          label="direction of callees"
          options={ORIENTATIONS}
          value={upwards}
          onChoose={(id) => orientation.set(id)}
        />
        <RecursionSwitch />
        {scene && shown && (
          <ColourKey scene={scene} names={shown.names} paints={paints} searching={found.entities !== null} />
        )}
        <button
          type="button"
          class="icon-button"
          title="Whole width (0)"
          aria-label="Zoom out to the whole width"
          onClick={() => chart.current?.zoomOut()}
        >
          <Icon name="zoom" />
        </button>
      </div>
      {scene && shown ? (
        <ChartHost
          scene={scene}
          paints={paints}
          subject={shown.subject}
          label={`Flame graph of ${bytes(scene.width)}; the tables have the same figures`}
          dimmed={state.late || (state.error !== null && !state.fresh)}
          onChart={(made) => {
            chart.current = made;
            // The axis needs it.
            setDrawn(made);
          }}
          onMove={() => (moves.value += 1)}
          onSelect={setSelected}
          onExtend={extend}
          onMenu={menuOf}
          onSettle={(settled) => {
            if (settled.shown) wantNames(settled.shown, settled.viewport, NAMED_SHARE, shown.names);
            refine(settled);
          }}
          card={(box) => <FactsCard facts={factsAt(box)} shown={shown} box={box} />}
        />
      ) : (
        <Nothing state={state} focused={focus[0] !== TOPLEVEL || focus.length > 1} />
      )}
      {scene?.timed && drawn && <TimeAxis chart={drawn} moves={moves} extent={scene.width} unit={scene.timed} />}
      <Selection
        facts={facts}
        before={before}
        menu={(button) => {
          const { left, bottom } = button.getBoundingClientRect();
          if (selected) menuOf(selected, { x: left, y: bottom });
        }}
        extend={selected && label ? { label, run: () => extend(selected) } : null}
        zoom={() => selected && chart.current?.zoomTo(selected)}
      />
      <div class="unseen" aria-live="polite">
        {facts && spoken(facts)}
      </div>
    </div>
  );
}

/** Whether every call of a function that calls itself is a box, or the outermost alone. */
function RecursionSwitch() {
  const shown = recursion.value === "shown";
  return (
    <button
      type="button"
      class="button small plain toggle"
      aria-pressed={shown}
      title={
        shown ? "each call of a recursive function is a box" : "of a recursive function, the outermost call is a box"
      }
      onClick={() => recursion.set(shown ? "folded" : "shown")}
    >
      {shown ? "Recursion shown" : "Recursion folded"}
    </button>
  );
}

/** Leads to what retains what a function or call site allocated. */
function whyOfBox(facts: Facts | null): void {
  if (facts?.key && (facts.kind === "function" || facts.kind === "site")) showWhy(facts.key, facts.kind === "function");
}

/** In place of the graph: why there is none. */
function Nothing({ state, focused }: { state: QueryState<{ total: number }>; focused: boolean }) {
  if (state.error) return <ErrorMessage error={state.error} />;
  if (!state.response) return <div class="flame-place" />;
  if (focused && state.response.total > 0) {
    return (
      <Empty title="Nothing of the selection passes through the focus">
        <button type="button" class="button" onClick={() => go({ focus: [] })}>
          Whole program
        </button>
      </Empty>
    );
  }
  return <Empty title="No block fits these filters" />;
}

export const flameView: View = {
  id: "flame",
  half: "allocations",
  title: "Flame graph",
  what: "Who allocated, and for whom",
  Component: Flame,
};
