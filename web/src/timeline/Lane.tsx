/** A strip on which one range of time is drawn: new by dragging, then moved and resized. */
import { useRef } from "preact/hooks";
import type { How } from "../state/page.ts";
import type { Span } from "./ranges.ts";
import { rounded, step, timeAt, xOf, type Scale } from "./scale.ts";

interface Props {
  scale: Scale;
  /** Of the recording, in seconds. An edge dragged there is open: it follows as time goes on. */
  duration: number;
  spans: readonly Span[];
  /** Only a single span can be moved. */
  movable: boolean;
  /** For screen readers: "allocated", "live". */
  name: string;
  class: string;
  id: string;
  /** Of the lane that is the plot itself. */
  label?: string;
  /** How a time is read out. */
  say(time: number): string;
  onChange(span: Span, how: How): void;
  onClear(): void;
  /** A click without a drag. */
  onPoint?(time: number): void;
}

type Part = "from" | "to" | "both";

/** Pixels that make a drag of a click. */
const SLACK = 3;

export function Lane(props: Props) {
  const { scale, duration, spans, movable, name, say, onChange, onClear, onPoint } = props;
  const track = useRef<HTMLDivElement>(null);
  const span = movable && spans.length === 1 ? (spans[0] ?? null) : null;

  const settle = (time: number): number | null => {
    if (time <= 0 || time >= duration) return null;
    return rounded(time, step(scale));
  };
  /** A span of two times in any order; the recording's own ends are left open. */
  const between = (a: number, b: number): Span => {
    const [low, high] = a < b ? [a, b] : [b, a];
    return { from: low <= 0 ? null : settle(low), to: high >= duration ? null : settle(high) };
  };

  /** Follows a pointer that went down, until it goes up. */
  const follow = (down: PointerEvent, move: (x: number, how: How) => void, click: () => void) => {
    const node = track.current;
    if (down.button !== 0 || !node) return;
    down.preventDefault();
    down.stopPropagation();
    node.setPointerCapture(down.pointerId);
    const { left } = node.getBoundingClientRect();
    let dragged = false;
    let waiting = 0;
    let latest = down.clientX - left;
    const flush = () => {
      waiting = 0;
      move(latest, dragged ? "replace" : "push");
      dragged = true;
    };
    const onMove = (event: PointerEvent) => {
      latest = event.clientX - left;
      if (!dragged && Math.abs(event.clientX - down.clientX) < SLACK) return;
      waiting ||= requestAnimationFrame(flush);
    };
    const onUp = () => {
      node.removeEventListener("pointermove", onMove);
      node.removeEventListener("pointerup", onUp);
      node.removeEventListener("pointercancel", onUp);
      if (waiting) {
        cancelAnimationFrame(waiting);
        flush();
      } else if (!dragged) click();
    };
    node.addEventListener("pointermove", onMove);
    node.addEventListener("pointerup", onUp);
    node.addEventListener("pointercancel", onUp);
  };

  const begin = (event: PointerEvent) => {
    const { left } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const anchor = timeAt(scale, event.clientX - left);
    follow(
      event,
      (x, how) => onChange(between(anchor, timeAt(scale, x)), how),
      () => (onPoint ? onPoint(rounded(anchor, step(scale))) : onClear()),
    );
  };

  const ends = (of: Span): [number, number] => [of.from ?? 0, of.to ?? duration];

  const grab = (event: PointerEvent, part: Part) => {
    if (!span) return;
    const [from, to] = ends(span);
    const fixed = part === "from" ? to : from;
    const grabbed = timeAt(scale, event.clientX - (track.current?.getBoundingClientRect().left ?? 0));
    follow(
      event,
      (x, how) => {
        const time = timeAt(scale, x);
        onChange(part === "both" ? moved(from, to, time - grabbed) : between(fixed, time), how);
      },
      () => {
        if (part === "both" && onPoint) onPoint(rounded(grabbed, step(scale)));
      },
    );
  };

  const moved = (from: number, to: number, by: number): Span => {
    const shift = Math.max(-from, Math.min(duration - to, by));
    if (from === to) {
      const point = rounded(Math.max(0, Math.min(duration, from + by)), step(scale));
      return { from: point, to: point };
    }
    return between(from + shift, to + shift);
  };

  const onKey = (event: KeyboardEvent, part: Part) => {
    if (!span) return;
    if (event.key === "Delete" || event.key === "Backspace") {
      event.preventDefault();
      onClear();
      track.current?.focus();
      return;
    }
    const direction = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (direction === 0) return;
    event.preventDefault();
    const by = direction * step(scale) * (event.shiftKey ? 50 : 5);
    const [from, to] = ends(span);
    if (part === "both") onChange(moved(from, to, by), "replace");
    else if (part === "from") onChange(between(Math.max(0, Math.min(to, from + by)), to), "replace");
    else onChange(between(from, Math.min(duration, Math.max(from, to + by))), "replace");
  };

  const box = (of: Span): { left: string; width: string } => {
    const [from, to] = ends(of);
    const left = Math.max(-2, Math.min(scale.width + 2, xOf(scale, from)));
    const right = Math.max(left, Math.min(scale.width + 2, xOf(scale, to)));
    return { left: `${left}px`, width: `${right - left}px` };
  };

  const handle = (part: Part, label: string, value: number) => (
    <div
      class={`handle ${part}`}
      role="slider"
      tabIndex={0}
      aria-label={`${name} ${label}`}
      aria-valuemin={0}
      aria-valuemax={duration}
      aria-valuenow={value}
      aria-valuetext={say(value)}
      onPointerDown={(event) => grab(event, part)}
      onKeyDown={(event) => onKey(event, part)}
    />
  );

  return (
    <div
      class={`lane ${props.class}`}
      ref={track}
      id={props.id}
      tabIndex={-1}
      role={props.label ? "application" : "group"}
      aria-label={props.label ?? `${name}: range of time`}
      onPointerDown={begin}
    >
      {spans.map((one, index) => (
        <div key={index} class={`span ${one.from !== null && one.from === one.to ? "point" : ""}`} style={box(one)}>
          {span && (
            <>
              {handle("from", "from", ends(span)[0])}
              {handle("to", "to", ends(span)[1])}
              {handle("both", "range", ends(span)[0])}
            </>
          )}
        </div>
      ))}
    </div>
  );
}
