/** Lifetimes: when blocks were allocated against how long they lived, coloured by bytes. */
import "./density.css";
import { useComputed } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useQuery } from "../engine/useQuery.ts";
import { useKeys } from "../shell/keys.ts";
import type { View } from "../shell/registry.ts";
import { theme } from "../shell/theme.ts";
import { setConditions } from "../state/filter.ts";
import { filter, rec } from "../state/page.ts";
import { estimatedBytes as bytes } from "../state/estimates.ts";
import { seconds } from "../text/units.ts";
import { useSize } from "../widgets/size.ts";
import { Empty, ErrorMessage } from "../widgets/State.tsx";
import { conditionsOf, selectedRanges } from "./ranges.ts";
import { drawSelectedRanges, drawPlot, type Density } from "./draw.ts";
import { cellAt, columns, levels, stretchesOf, type Cell, type Frame, type Selected } from "./plot.ts";
import { extentOf, ramp, type Extent } from "./ramp.ts";

function Lifetimes() {
  // The plot shows what its own conditions leave out, too: they can be widened again.
  const here = useComputed(() => selectedRanges(filter.value)).value;
  const { response, error, late } = useQuery({ query: "density", rec: rec.value, filter: here.rest });
  const density = useMemo<Density | null>(
    () =>
      response && {
        bins: { times: response.times, lifetimes: response.lifetimes },
        bytes: response.columns.f32("bytes"),
        never: response.columns.f32("never"),
      },
    [response],
  );
  const empty = density && !density.bytes.some((value) => value > 0) && !density.never.some((value) => value > 0);
  if (error && !density) return <ErrorMessage error={error} />;
  if (empty) return <Empty title="No block fits these filters" />;
  if (!density) return <div class="density" />;
  return <Plot density={density} here={here} late={late} />;
}

interface PlotProps {
  density: Density;
  here: ReturnType<typeof selectedRanges>;
  late: boolean;
}

function Plot({ density, here, late }: PlotProps) {
  const { bins } = density;
  const place = useRef<HTMLDivElement>(null);
  const lower = useRef<HTMLCanvasElement>(null);
  const upper = useRef<HTMLCanvasElement>(null);
  const size = useSize(place);
  const [hover, setHover] = useState<Cell | null>(null);
  const [selected, setSelected] = useState<Selected | null>(null);
  const now = theme.value;
  const colours = useMemo(() => ramp(now), [now]);
  const extent = useMemo(() => extentOf(density.bytes, density.never), [density]);
  const frame: Frame = { ...size, left: 64, right: 16, top: 6, bottom: 26 };

  useLayoutEffect(() => {
    if (size.width > 0) drawPlot(sized(lower.current, frame), frame, density, colours);
  }, [size, density, colours]);
  useLayoutEffect(() => {
    const context = size.width > 0 ? sized(upper.current, frame) : null;
    if (context) drawSelectedRanges(context, frame, bins, { here, selected, hover });
  }, [size, density, here, selected, hover, now]);
  // Another selection elsewhere on the page takes the place of the one begun here.
  useEffect(() => setSelected(null), [here]);

  const choose = (selection: Selected): void => {
    const conditions = conditionsOf(bins, stretchesOf(bins, selection));
    const never = selection.from.lifetime === "never";
    setConditions(never ? ["allocated", "lifetime", "collected"] : ["allocated", "lifetime"], conditions);
  };
  const cellOf = (event: PointerEvent): Cell => {
    const { left, top } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return cellAt(frame, bins, event.clientX - left, event.clientY - top);
  };
  const key = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const present = selected ?? start(density);
    if (step && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const to = selected ? stepped(density, present.to, step[0]!, step[1]!) : present.to;
      setSelected({ from: event.shiftKey ? present.from : to, to });
      setHover(to);
    } else if (event.key === "Enter" && selected) choose(selected);
    else if (event.key === "Escape" && selected) setSelected(null);
    else return;
    event.preventDefault();
  };
  useKeys("Lifetimes", [
    { keys: "ArrowLeft ArrowRight ArrowUp ArrowDown", does: "next bin; with Shift, a selection" },
    { keys: "Enter", does: "filter by the selection" },
  ]);

  const readout =
    selected && !same(selected.from, selected.to) ? selectedText(density, selected) : hover && cellText(density, hover);
  return (
    <div class={late ? "density late" : "density"}>
      <div class="density-tools">
        <span class="quiet">
          {readout ?? "Each bin: blocks allocated at one time that lived so long. Drag to filter by time and lifetime."}
        </span>
        <span class="grow" />
        <Legend colours={colours} extent={extent} />
      </div>
      <div
        class="density-plot"
        ref={place}
        tabIndex={0}
        role="application"
        aria-roledescription="density plot"
        aria-label="Lifetimes of blocks by allocation time; arrow keys move, Enter filters"
        onKeyDown={key}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          const cell = cellOf(event);
          setSelected({ from: cell, to: cell });
        }}
        onPointerMove={(event) => {
          const cell = cellOf(event);
          setHover(cell);
          if (event.buttons & 1 && selected) setSelected({ from: selected.from, to: cell });
        }}
        onPointerUp={() => {
          if (selected) choose(selected);
        }}
        onPointerCancel={() => setSelected(null)}
        onPointerLeave={() => setHover(null)}
      >
        <canvas ref={lower} />
        <canvas ref={upper} />
      </div>
      <div class="unseen" aria-live="polite">
        {selected && selectedText(density, selected)}
      </div>
    </div>
  );
}

/** A canvas of the frame's size, ready to be drawn on in CSS pixels. */
function sized(canvas: HTMLCanvasElement | null, { width, height }: Frame): CanvasRenderingContext2D | null {
  const context = canvas?.getContext("2d") ?? null;
  if (!canvas || !context) return null;
  canvas.width = Math.round(width * devicePixelRatio);
  canvas.height = Math.round(height * devicePixelRatio);
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  return context;
}

function bytesIn({ bins, bytes: all, never }: Density, { time, lifetime }: Cell): number {
  return (lifetime === "never" ? never[time] : all[time * levels(bins) + lifetime]) ?? 0;
}

/** The heaviest bin: where the keyboard begins. */
function start(density: Density): Selected {
  const at = density.bytes.reduce((best, value, index) => (value > density.bytes[best]! ? index : best), 0);
  const cell: Cell = { time: Math.floor(at / levels(density.bins)), lifetime: at % levels(density.bins) };
  return { from: cell, to: cell };
}

function stepped({ bins }: Density, { time, lifetime }: Cell, x: number, y: number): Cell {
  const inside = (value: number, count: number): number => Math.min(count - 1, Math.max(0, value));
  const top = levels(bins);
  const level = inside((lifetime === "never" ? top : lifetime) + y, top + 1);
  return { time: inside(time + x, columns(bins)), lifetime: level === top ? "never" : level };
}

const same = (a: Cell, b: Cell): boolean => a.time === b.time && a.lifetime === b.lifetime;

function cellText(density: Density, cell: Cell): string {
  return `${selectedText(density, { from: cell, to: cell })}: ${bytes(bytesIn(density, cell))}`;
}

function selectedText({ bins }: Density, selection: Selected): string {
  const { allocated, lifetime } = stretchesOf(bins, selection);
  const lived = lifetime ? `lived ${seconds(lifetime[0])} to ${seconds(lifetime[1])}` : "never collected";
  return `allocated ${seconds(allocated[0])} to ${seconds(allocated[1])}, ${lived}`;
}

function Legend({ colours, extent }: { colours: readonly string[]; extent: Extent }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    colours.forEach((colour, at) => {
      if (!context) return;
      context.fillStyle = colour;
      context.fillRect(at, 0, 1, 1);
    });
  }, [colours]);
  return (
    <span class="density-legend" title="colours are logarithmic">
      {bytes(extent.lightest)}
      <canvas ref={canvas} width={colours.length} height={1} aria-hidden="true" />
      {bytes(extent.heaviest)}
    </span>
  );
}

export const lifetimesView: View = {
  id: "lifetimes",
  half: "allocations",
  title: "Lifetimes",
  what: "How long blocks live, by when they were allocated: a queue that falls behind is a rising line",
  Component: Lifetimes,
};
