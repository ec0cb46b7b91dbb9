/** What stands at the pointer: the time, and each kind's share of it. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { OverviewResponse, ProcessResponse } from "../generated/responses.ts";
import type { QueryResponse } from "../engine/slab.ts";
import { recording } from "../state/about.ts";
import { estimatedBytes as bytes } from "../state/estimates.ts";
import { percent, seconds } from "../text/units.ts";
import { areas } from "./areas.ts";
import { wallMark } from "./axis.ts";
import { rssAt, spanAt } from "./measured.ts";
import { timeAt, xOf, type Scale } from "./scale.ts";

interface Props {
  response: QueryResponse<OverviewResponse>;
  process: ProcessResponse | null;
  scale: Scale;
  filtered: boolean;
}

export function Readout(props: Props) {
  const probe = useRef<HTMLDivElement>(null);
  const [x, setX] = useState<number | null>(null);
  useEffect(() => {
    const over = probe.current?.parentElement;
    if (!over) return undefined;
    const move = (event: PointerEvent) => setX(event.clientX - over.getBoundingClientRect().left);
    const leave = () => setX(null);
    over.addEventListener("pointermove", move);
    over.addEventListener("pointerleave", leave);
    return () => {
      over.removeEventListener("pointermove", move);
      over.removeEventListener("pointerleave", leave);
    };
  }, []);
  return (
    <div ref={probe} class="readout-probe" aria-hidden="true">
      {x !== null && <Card {...props} x={x} />}
    </div>
  );
}

function Card({ response, process, scale, filtered, x }: Props & { x: number }) {
  const { columns } = response;
  const times = columns.numbers("time");
  const index = firstNotBefore(times, timeAt(scale, x));
  if (index >= times.length) return null;
  const time = times[index] ?? 0;
  const value = (name: string) => bytes(columns.numbers(name)[index] ?? 0);
  const rss = rssAt(process, time);
  const span = spanAt(process, time);
  const start = recording.value?.start_unix;
  const left = xOf(scale, time);
  const flip = left > scale.width - 190;
  return (
    <>
      <div class="hair" style={{ left: `${left}px` }} />
      <div class="readout" style={flip ? { right: `${scale.width - left + 10}px` } : { left: `${left + 10}px` }}>
        <strong>{seconds(time)}</strong>
        <span class="faint">{start !== undefined && wallMark(start + time, 1)}</span>
        {filtered && <Row color="--selected" name="selected" value={value("selected")} />}
        {areas().map(({ area, name }) => (
          <Row key={area} color={`--${area}`} name={name} value={value(area)} />
        ))}
        {rss !== null && <Row color="--ink-2" name="resident" value={bytes(rss)} />}
        {span && <Row color="--brush-2" name="in the GC" value={percent(span.share)} />}
      </div>
    </>
  );
}

function Row({ color, name, value }: { color: string; name: string; value: string }) {
  return (
    <>
      <span>
        <span class="swatch" style={{ background: `var(${color})` }} />
        {name}
      </span>
      <span class="value">{value}</span>
    </>
  );
}

/** Index of the first of the ascending times that is not before `time`. */
function firstNotBefore(times: ArrayLike<number>, time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
