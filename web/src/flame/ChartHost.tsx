/** A flame graph as a part of the page: sized, themed, listening to mouse and keyboard. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { theme } from "../shell/theme.ts";
import { asksForMenu } from "../widgets/Menu.tsx";
import { useSize } from "../widgets/size.ts";
import { anchorOf, find, pathOf, viewAt } from "./anchor.ts";
import { Chart } from "./chart.ts";
import type { Paint } from "./colour.ts";
import { listen } from "./gestures.ts";
import { ROW_HEIGHT } from "./draw.ts";
import { lookOf } from "./look.ts";
import { Minimap, MINIMAP_WIDTH } from "./Minimap.tsx";
import { firstBox, moved, type Move } from "./moves.ts";
import type { Box } from "./rows.ts";
import { boxUnder, placeOf, type Scene } from "./scene.ts";

interface Props {
  scene: Scene;
  paints: readonly Paint[];
  /** The view begins anew when this changes, and else stays with what it shows. */
  subject: string;
  label: string;
  dimmed: boolean;
  onSelect(box: Box | null): void;
  onExtend(box: Box): void;
  /** The menu of a box, at a point of the window. */
  onMenu?: ((box: Box, at: { x: number; y: number }) => void) | undefined;
  onSettle?: (chart: Chart) => void;
  onChart?: (chart: Chart) => void;
  /** The view moves. */
  onMove?: () => void;
  /** The card beside the mouse. */
  card(box: Box): ComponentChildren;
}

const MOVES: Readonly<Record<string, Move>> = {
  ArrowUp: "up",
  k: "up",
  ArrowDown: "down",
  j: "down",
  ArrowLeft: "left",
  h: "left",
  ArrowRight: "right",
  l: "right",
};

export function ChartHost(props: Props) {
  const { scene, paints, subject, label, dimmed } = props;
  const latest = useRef(props);
  latest.current = props;
  const place = useRef<HTMLDivElement>(null);
  const size = useSize(place);
  const [hover, setHover] = useState<Box | null>(null);
  const [pointer, setPointer] = useState<{ x: number; y: number } | null>(null);
  const [moves, setMoves] = useState(0);
  const made = useRef<Chart | null>(null);
  made.current ??= new Chart({
    hovered: setHover,
    selected: (box) => latest.current.onSelect(box),
    settled: () => latest.current.onSettle?.(chart),
    moved: () => {
      if (chart.scrolls) setMoves((count) => count + 1);
      latest.current.onMove?.();
    },
  });
  const chart = made.current;
  const look = useThemedLook(paints);

  useLayoutEffect(() => {
    place.current?.prepend(chart.element);
    latest.current.onChart?.(chart);
    const stop = listen(chart, {
      extend: (box) => latest.current.onExtend(box),
      menu: (box, at) => latest.current.onMenu?.(box, at),
      pointer: setPointer,
    });
    return () => {
      stop();
      chart.dispose();
    };
  }, []);
  useLayoutEffect(() => chart.setLook(look), [look]);
  useLayoutEffect(() => {
    if (size.width > 0) chart.resize(chartWidth(size.width, scene, size.height), size.height, devicePixelRatio);
  }, [size.width, size.height, scene.rows]);
  useScene(chart, scene, subject);

  const key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const selected = chart.selectedBox;
    const move = MOVES[event.key];
    const { onMenu } = latest.current;
    if (move) chart.select(selected ? moved(scene, selected, move) : firstBox(scene));
    else if (selected && onMenu && asksForMenu(event)) onMenu(selected, chart.cornerOf(selected));
    else if (event.key === "Enter" && selected && event.shiftKey) chart.zoomTo(selected);
    else if (event.key === "Enter" && selected) latest.current.onExtend(selected);
    else if (event.key === "+" || event.key === "=") chart.zoomInPlace(1.6);
    else if (event.key === "-") chart.zoomInPlace(1 / 1.6);
    else if (event.key === "0") chart.zoomOut();
    else if (event.key === "PageUp") chart.scrollToRow(chart.present.top - chart.window.visible * 0.9);
    else if (event.key === "PageDown") chart.scrollToRow(chart.present.top + chart.window.visible * 0.9);
    else if (event.key === "Home") chart.scrollToRow(0);
    else if (event.key === "End") chart.scrollToRow(chart.window.rows);
    else if (event.key === "Escape" && selected) chart.select(null);
    else return;
    // The card would stay where the mouse was, over what the keyboard is doing.
    setPointer(null);
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div
      class={dimmed ? "flame-place late" : "flame-place"}
      ref={place}
      role="application"
      aria-roledescription="flame graph"
      aria-label={label}
      tabIndex={0}
      onKeyDown={key}
    >
      {chart.scrolls && size.height > 0 && (
        <Minimap chart={chart} scene={scene} look={look} height={size.height} moves={moves} />
      )}
      {hover && pointer && (
        <Card at={pointer} width={size.width} height={size.height}>
          {props.card(hover)}
        </Card>
      )}
    </div>
  );
}

/** The chart leaves room for the minimap where there is one. */
function chartWidth(width: number, scene: Scene, height: number): number {
  const { callers, focus, callees } = scene.rows;
  return callers + focus + callees > height / ROW_HEIGHT ? Math.max(1, width - MINIMAP_WIDTH) : width;
}

function useThemedLook(paints: readonly Paint[]) {
  const [look, setLook] = useState(() => lookOf(paints));
  const now = theme.value;
  useLayoutEffect(() => setLook(lookOf(paints)), [now, paints]);
  return look;
}

/** Shows the scene; where it is about the same subject, what was in sight stays there. */
function useScene(chart: Chart, scene: Scene, subject: string): void {
  const shown = useRef<string | null>(null);
  useLayoutEffect(() => {
    const old = chart.shown;
    if (!old || shown.current !== subject) {
      chart.show(scene, null);
      chart.select(null);
    } else if (old.callees === scene.callees && old.callers === scene.callers) {
      chart.repaint(scene);
    } else if (scene.timed) {
      // Places stay where they are, whatever their boxes are.
      const selected = chart.selectedBox;
      const place = selected && placeOf(old, selected);
      chart.show(scene, chart.viewport);
      chart.select(place && boxUnder(scene, place.row, (place.from + place.to) / 2), false);
    } else {
      const selected = chart.selectedBox;
      const anchor = anchorOf(old, chart.viewport);
      const path = selected && pathOf(old, selected);
      chart.show(scene, viewAt(scene, anchor));
      const box = path && find(scene, path);
      chart.select(box || null, false);
    }
    shown.current = subject;
  }, [chart, scene, subject]);
}

interface CardProps {
  at: { x: number; y: number };
  width: number;
  height: number;
  children: ComponentChildren;
}

/** Beside the mouse, inside the view. */
function Card({ at, width, height, children }: CardProps) {
  const card = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const node = card.current;
    if (!node) return;
    const [wide, high] = [node.offsetWidth, node.offsetHeight];
    const left = at.x + 14 + wide > width ? Math.max(4, at.x - wide - 10) : at.x + 14;
    const below = at.y + 18 + high > height ? at.y - high - 10 : at.y + 18;
    node.style.transform = `translate(${left}px, ${Math.max(4, below)}px)`;
  });
  return (
    <div class="flame-card" ref={card} aria-hidden="true">
      {children}
    </div>
  );
}
