/** The dominator tree as nested boxes: areas are what is retained. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { palette } from "../../flame/colour.ts";
import { Labels } from "../../flame/label.ts";
import { theme, themeColor } from "../../shell/theme.ts";
import { useSize } from "../../widgets/size.ts";
import type { BoxRow } from "../../generated/responses.ts";
import { given } from "../kindColour.ts";
import { draw, FONT } from "./draw.ts";
import { boxAt, layOut, moved, type Move, type Rect } from "./layout.ts";

interface Props {
  boxes: readonly BoxRow[];
  label: string;
  dimmed: boolean;
  selected: number;
  onSelect(at: number): void;
  /** Enter, or a click on what is selected. */
  onOpen(at: number): void;
  onOut(): void;
  card(at: number): ComponentChildren;
}

const MOVES: Readonly<Record<string, Move>> = {
  ArrowRight: "next",
  ArrowLeft: "before",
  ArrowDown: "in",
  ArrowUp: "out",
  l: "next",
  h: "before",
  j: "in",
  k: "out",
};

export function Treemap({ boxes, label, dimmed, selected, onSelect, onOpen, onOut, card }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width, height } = useSize(element);
  const [pointer, setPointer] = useState<{ x: number; y: number } | null>(null);
  const labels = useMemo(measuring, []);
  const places = useMemo(() => layOut(boxes, { left: 0, top: 0, width, height }), [boxes, width, height]);
  const now = theme.value;

  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || !canvas.current || width === 0) return;
    const ratio = devicePixelRatio;
    canvas.current.width = Math.round(width * ratio);
    canvas.current.height = Math.round(height * ratio);
    const look = {
      paints: palette(now),
      background: themeColor("--panel"),
    };
    draw(context, ratio, { width, height }, boxes, places, look, labels);
  }, [boxes, places, width, height, now, given.value]);

  // The box there may be another one when the boxes have changed under the mouse.
  const hovered = pointer ? boxAt(places, pointer.x, pointer.y) : -1;
  const place = (event: MouseEvent): { x: number; y: number } => {
    const { left, top } = element.current!.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const under = (event: MouseEvent): number => {
    const { x, y } = place(event);
    return boxAt(places, x, y);
  };
  const key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const move = MOVES[event.key];
    if (move) onSelect(moved(boxes, selected, move));
    else if (event.key === "Enter" && selected >= 0) onOpen(selected);
    else if (event.key === "Backspace") onOut();
    else if (event.key === "Escape" && selected >= 0) onSelect(-1);
    else return;
    setPointer(null);
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      class={dimmed ? "treemap late" : "treemap"}
      ref={element}
      role="application"
      aria-roledescription="treemap"
      aria-label={label}
      tabIndex={0}
      onKeyDown={key}
      onPointerMove={(event) => setPointer(place(event))}
      onPointerLeave={() => setPointer(null)}
      onClick={(event) => {
        const box = under(event);
        if (box > 0) onOpen(box);
      }}
      onContextMenu={(event) => {
        const box = under(event);
        if (box > 0) {
          event.preventDefault();
          onSelect(box);
        }
      }}
    >
      <canvas ref={canvas} style={{ width: `${width}px`, height: `${height}px` }} />
      {selected > 0 && <Ring rect={places.rects[selected]} name="selected" />}
      {hovered > 0 && <Ring rect={places.rects[hovered]} name="hovered" />}
      {pointer && hovered > 0 && (
        <div class="flame-card" style={cardPlace(pointer, width, height)} aria-hidden="true">
          {card(hovered)}
        </div>
      )}
    </div>
  );
}

function measuring(): Labels {
  const context = document.createElement("canvas").getContext("2d")!;
  context.font = FONT;
  return new Labels((text) => context.measureText(text).width);
}

function Ring({ rect, name }: { rect: Rect | undefined; name: string }) {
  if (!rect || rect.width <= 0) return null;
  const { left, top, width, height } = rect;
  return (
    <div
      class={`treemap-ring ${name}`}
      style={{ transform: `translate(${left}px, ${top}px)`, width: `${width}px`, height: `${height}px` }}
    />
  );
}

/** Beside the mouse, towards the middle. */
function cardPlace({ x, y }: { x: number; y: number }, width: number, height: number) {
  const across = x > width / 2 ? { right: `${width - x + 12}px`, left: "auto" } : { left: `${x + 14}px` };
  const down = y > height / 2 ? { bottom: `${height - y + 10}px`, top: "auto" } : { top: `${y + 18}px` };
  return { ...across, ...down };
}
