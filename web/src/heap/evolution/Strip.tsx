/** How the heap evolved, above the views: here the snapshot is selected that they are about. */
import "../heap.css";
import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useQuery } from "../../engine/useQuery.ts";
import { useKeys } from "../../shell/keys.ts";
import { recording } from "../../state/about.ts";
import { param, rec } from "../../state/page.ts";
import { Segmented } from "../../widgets/Segmented.tsx";
import { Splitter } from "../../widgets/Splitter.tsx";
import { distinct, fills, given } from "../kindColour.ts";
import {
  base,
  baseIsSelected,
  chooseBoth,
  chooseSnapshot,
  heapRevision,
  namesRevision,
  included,
  snapshot,
  snapshots,
} from "../state.ts";
import { TakeSnapshot } from "../TakeSnapshot.tsx";
import { type Axis, withOffHeap } from "./areas.ts";
import { Partial } from "../Partial.tsx";
import { Chart } from "./Chart.tsx";
import { Legend } from "./Legend.tsx";
import { SnapshotBaseline } from "./SnapshotBaseline.tsx";

const by = param("evolution", "owner");
const axis = param("along", "gc");
const height = signal(innerHeight < 760 ? 130 : 176);
/** More areas cannot be distinguished. */
const MAX_SERIES = 10;

const BY = [
  { id: "owner", title: "Owners", what: "live bytes by the root that owns them" },
  { id: "kind", title: "Kinds", what: "live bytes by kind of block" },
  { id: "root", title: "Roots", what: "what each root retains" },
];
const AXES = [
  { id: "gc", title: "Collections", what: "along major collections" },
  { id: "time", title: "Time", what: "along the seconds since the start" },
];

export function Strip() {
  const all = snapshots.value;
  const { response: inHeap, error } = useQuery(
    all.length > 0 ? { query: "evolution", rec: rec.value, by: by.value, limit: MAX_SERIES } : null,
    `s${heapRevision.value}.${all.length}.${namesRevision.value}`,
  );
  const response = useMemo(() => inHeap && withOffHeap(inHeap), [inHeap]);
  const [hovered, setHovered] = useState<number | null>(null);
  const chart = useRef<HTMLDivElement>(null);
  const step = (by: number, extend: boolean): void => {
    const usable = included.value;
    const at = usable.findIndex((one) => one === snapshot.value);
    const next = usable[Math.max(0, Math.min(usable.length - 1, at + by))];
    if (!next || next === snapshot.value) return;
    if (extend) chooseBoth((baseIsSelected.value ? base.value : snapshot.value)?.number ?? next.number, next.number);
    else chooseSnapshot(next.number);
  };
  useKeys("Snapshots", [
    { keys: ",", does: "the snapshot before", run: () => step(-1, false) },
    { keys: ".", does: "the next snapshot", run: () => step(1, false) },
    { keys: "s", does: "choose along the curve: arrows, with Shift two to compare", run: () => chart.current?.focus() },
  ]);
  const colours = fills();
  const series = response?.series ?? [];
  const own = distinct(series.map(({ name }) => name));
  const paints = [...own, 1].map((index) => colours[index]!);
  useEffect(() => {
    if (response && by.value === "kind") given.value = new Map(series.map(({ name }, index) => [name, own[index]!]));
  }, [response]);
  const along: Axis = axis.value === "time" ? "time" : "gc";
  return (
    <section class="strip" aria-label="the heap over time">
      <div class="controls">
        <Segmented label="areas" options={BY} value={by.value} onChoose={(id) => by.set(id)} />
        <Segmented label="axis" options={AXES} value={along} onChoose={(id) => axis.set(id)} />
        {response && response.ready + response.failed < response.of && (
          <span class="analysing" role="status">
            <span class="spinner" aria-hidden="true" />
            {response.ready} of {response.of} snapshots analysed
          </span>
        )}
        {response && response.failed > 0 && (
          <span class="refused" role="status">
            {response.failed} of {response.of} snapshots cannot be read
          </span>
        )}
        {error && (
          <span class="refused" role="alert" title={error.hint}>
            {error.message}
          </span>
        )}
        <span class="grow" />
        <span class="quiet strip-hint">click: look at a snapshot; drag: compare two</span>
        <SnapshotBaseline />
        <TakeSnapshot />
      </div>
      <Partial />
      {all.length === 0 ? (
        <div class="strip-empty quiet">
          {recording.value?.snapshots ? "reading the snapshots …" : "no snapshot yet"}
        </div>
      ) : (
        <div class="strip-body" style={{ height: `${height.value}px` }}>
          <Chart
            element={chart}
            response={response}
            axis={along}
            paints={paints}
            height={height.value}
            onHover={setHovered}
            onStep={step}
          />
          <Legend response={response} paints={paints} hovered={hovered} by={by.value === "kind" ? "kind" : "root"} />
        </div>
      )}
      <Splitter
        label="height of the curve"
        axis="level"
        value={height.value}
        min={90}
        max={Math.max(160, innerHeight * 0.6)}
        onChange={(next) => (height.value = next)}
      />
    </section>
  );
}
