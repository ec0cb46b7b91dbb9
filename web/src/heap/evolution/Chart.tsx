/** The stacked areas, their axes, and the marks of the snapshots that are selected. */
import type { RefObject } from "preact";
import { useMemo, useState } from "preact/hooks";
import { elapsedMark, timeSteps } from "../../timeline/axis.ts";
import { bytes, seconds } from "../../text/units.ts";
import { useSize } from "../../widgets/size.ts";
import type { EvolutionResponse, SnapshotRow } from "../../generated/responses.ts";
import { base, baseIsSelected, chooseBoth, chooseSnapshot, snapshot, snapshots } from "../state.ts";
import { marksUpTo, nearest, outline, place, positions, stack, type Axis, type Scale } from "./areas.ts";

const LEFT = 64;
const RIGHT = 26;
const TOP = 12;
const BOTTOM = 22;
/** Pixels that make a drag of a click. */
const SLACK = 4;
const COUNT_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000];

interface Props {
  element: RefObject<HTMLDivElement | null>;
  response: EvolutionResponse | null;
  axis: Axis;
  paints: readonly string[];
  height: number;
  /** The number of the snapshot under the mouse. */
  onHover(number: number | null): void;
  onStep(by: number, extend: boolean): void;
}

export function Chart({ element, response, axis, paints, height, onHover, onStep }: Props) {
  const { width } = useSize(element);
  const all = snapshots.value;
  const [over, setOver] = useState<number | null>(null);
  const [drag, setDrag] = useState<number | null>(null);
  const at = useMemo(() => positions(all, axis), [all, axis]);
  const x: Scale = { from: at[0] ?? 0, to: at.at(-1) ?? 1, size: Math.max(1, width - LEFT - RIGHT) };
  const most = Math.max(1, ...(response?.total ?? []));
  const floor = height - BOTTOM;
  const y = (size: number): number => floor - (size / most) * (floor - TOP);
  const xOf = (index: number): number => LEFT + place(x, at[index] ?? 0);
  const areas = useMemo(() => (response ? stack(response) : []), [response]);
  const indexOf = (number: number): number => all.findIndex((one) => one.number === number);
  const xs = (response?.snapshots ?? []).map((number) => xOf(indexOf(number)));

  const under = (event: PointerEvent): number => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return nearest(x, at, event.clientX - box.left - LEFT);
  };
  const hover = (index: number | null): void => {
    setOver(index);
    onHover(index === null ? null : (all[index]?.number ?? null));
  };
  const down = (event: PointerEvent): void => {
    if (event.button !== 0 || all.length === 0) return;
    const node = event.currentTarget as HTMLElement;
    const from = under(event);
    const start = event.clientX;
    node.setPointerCapture(event.pointerId);
    let to = from;
    const move = (event: PointerEvent): void => {
      to = nearest(x, at, event.clientX - node.getBoundingClientRect().left - LEFT);
      if (Math.abs(event.clientX - start) >= SLACK) setDrag(from);
    };
    const end = (event: PointerEvent): void => {
      node.removeEventListener("pointermove", move);
      node.removeEventListener("pointerup", end);
      node.removeEventListener("pointercancel", end);
      setDrag(null);
      if (event.type === "pointercancel") return;
      const [first, second] = [all[Math.min(from, to)], all[Math.max(from, to)]];
      if (first && second && from !== to) chooseBoth(first.number, second.number);
      else if (first) chooseSnapshot(first.number);
    };
    node.addEventListener("pointermove", move);
    node.addEventListener("pointerup", end);
    node.addEventListener("pointercancel", end);
  };
  const key = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, Home: -all.length, End: all.length };
    const step = steps[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    onStep(step, event.shiftKey);
    event.preventDefault();
    event.stopPropagation();
  };

  const selected = snapshot.value ? all.indexOf(snapshot.value) : -1;
  const from = baseIsSelected.value && base.value ? all.indexOf(base.value) : -1;
  const band = drag !== null && over !== null ? [drag, over] : from >= 0 ? [from, selected] : null;
  const bandEnds = band && [xOf(Math.min(...band)), xOf(Math.max(...band))];
  return (
    <div
      class="evolution"
      ref={element}
      role="slider"
      aria-label="Snapshot"
      aria-valuemin={1}
      aria-valuemax={all.length}
      aria-valuenow={selected + 1}
      aria-valuetext={snapshot.value ? spoken(snapshot.value) : ""}
      tabIndex={0}
      onKeyDown={key}
      onPointerDown={down}
      onPointerMove={(event) => hover(under(event))}
      onPointerLeave={() => hover(null)}
    >
      {width > 0 && (
        <svg width={width} height={height} aria-hidden="true">
          {marksUpTo(most, Math.max(2, height / 40)).map((mark) => (
            <g key={mark}>
              <line class="evolution-grid" x1={LEFT} x2={width - RIGHT} y1={y(mark)} y2={y(mark)} />
              <text x={LEFT - 8} y={y(mark) + 4} text-anchor="end">
                {bytes(mark).replace(/\.0+ /, " ")}
              </text>
            </g>
          ))}
          {areas.map((area, index) => (
            <path key={index} d={outline(xs, area, y)} style={{ "--fill": paints[index] }} />
          ))}
          <line class="evolution-floor" x1={LEFT} x2={width - RIGHT} y1={floor} y2={floor} />
          {xMarks(axis, x).map(({ value, text }) => (
            <text key={value} x={LEFT + place(x, value)} y={height - 6} text-anchor="middle">
              {text}
            </text>
          ))}
          {bandEnds && (
            <rect
              class="evolution-band"
              x={bandEnds[0]}
              width={bandEnds[1]! - bandEnds[0]!}
              y={TOP}
              height={floor - TOP}
            />
          )}
          {all.length <= width / 4 &&
            all.map((one, index) => (
              <line key={one.number} class={markClass(one)} x1={xOf(index)} x2={xOf(index)} y1={floor} y2={floor + 5} />
            ))}
          {over !== null && <line class="evolution-over" x1={xOf(over)} x2={xOf(over)} y1={TOP} y2={floor} />}
          {from >= 0 && <line class="evolution-base" x1={xOf(from)} x2={xOf(from)} y1={TOP} y2={floor + 5} />}
          {selected >= 0 && (
            <>
              <line class="evolution-selected" x1={xOf(selected)} x2={xOf(selected)} y1={TOP} y2={floor + 5} />
              <circle class="evolution-selected" cx={xOf(selected)} cy={TOP} r="4" />
            </>
          )}
        </svg>
      )}
    </div>
  );
}

/** What the horizontal axis says, without crowding. */
function xMarks(axis: Axis, scale: Scale): { value: number; text: string }[] {
  const wanted = Math.max(1, scale.size / 90);
  const span = scale.to - scale.from;
  if (span <= 0) return [{ value: scale.from, text: markText(axis, scale.from, 1) }];
  const step = (axis === "time" ? timeSteps : COUNT_STEPS).find((one) => span / one <= wanted) ?? span;
  const marks = [];
  for (let value = Math.ceil(scale.from / step) * step; value <= scale.to + step * 1e-9; value += step) {
    marks.push({ value, text: markText(axis, value, step) });
  }
  return marks;
}

function markText(axis: Axis, value: number, step: number): string {
  return axis === "time" ? elapsedMark(value, step) : `GC ${Math.round(value)}`;
}

function markClass({ included, damage, analysed }: SnapshotRow): string {
  if (damage !== null) return "evolution-mark damaged";
  return analysed && included ? "evolution-mark" : "evolution-mark waiting";
}

/** A snapshot in words. */
export function spoken({ number, label, major, at, live, heap, damage, readable, included }: SnapshotRow): string {
  const size = live === null ? `${bytes(heap)} of heap` : `${bytes(live)} alive`;
  const when = at === null ? "" : `, at ${seconds(at)}`;
  const wrong = readable ? ", partial: the file is damaged" : ", cannot be read";
  const state = damage !== null ? wrong : included ? "" : ", not in this file";
  const name = label === null ? "" : ` “${label}”`;
  const after = major === null ? "" : `, after ${major} major collections`;
  return `snapshot ${number}${name}${after}${when}: ${size}${state}`;
}
