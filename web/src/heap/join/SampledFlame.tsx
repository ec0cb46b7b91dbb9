/** A flame graph of sampled blocks, with the box that is selected below it. */
import "../../flame/flame.css";
import type { ComponentChildren } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import type { Chart } from "../../flame/chart.ts";
import { ChartHost } from "../../flame/ChartHost.tsx";
import { palette } from "../../flame/colour.ts";
import type { Box as Place } from "../../flame/rows.ts";
import type { SampledBox } from "../../generated/responses.ts";
import { useKeys } from "../../shell/keys.ts";
import { passOn } from "../../shell/passOn.ts";
import { theme } from "../../shell/theme.ts";
import { estimatedBytes } from "../../state/estimates.ts";
import { count, percent, ratio, seconds } from "../../text/units.ts";
import { openBlock } from "../state.ts";
import { labelOf, sceneOf } from "./scene.ts";

interface Props {
  boxes: readonly SampledBox[];
  /** What it is about: it begins anew when this changes. */
  subject: string;
  label: string;
  late: boolean;
  colour(box: SampledBox): number;
  hint: string;
  /** Further buttons for the selected box. */
  actions?(box: SampledBox): ComponentChildren;
  /** What the key `w` does with it. */
  across?(box: SampledBox): void;
}

export function SampledFlame(props: Props) {
  const { boxes, colour } = props;
  const [selected, setSelected] = useState<Place | null>(null);
  const chart = useRef<Chart | null>(null);
  const scene = useMemo(() => sceneOf(boxes, colour), [boxes, colour]);
  const paints = useMemo(() => palette(theme.value), [theme.value]);
  const boxAt = (place: Place): SampledBox | undefined =>
    place.part === "focus" ? boxes[0] : boxes[scene.callees?.origin[place.at] ?? -1];
  const box = selected ? boxAt(selected) : undefined;
  const whole = boxes[0]?.bytes ?? 0;
  const open = (place: Place): void => {
    const example = boxAt(place)?.example;
    if (example !== undefined) openBlock(example);
  };
  const toChart = (event: KeyboardEvent): void => passOn(chart.current?.element.parentElement ?? null, event);
  useKeys("Sampled blocks", [
    { keys: "ArrowUp ArrowDown k j", does: "the box above, below", run: toChart },
    { keys: "ArrowLeft ArrowRight h l", does: "next box in the row", run: toChart },
    { keys: "Enter", does: "one of the blocks in the box" },
    { keys: "Shift+Enter", does: "zoom to the selected box" },
    { keys: "+ -", does: "zoom in, out", run: toChart },
    { keys: "0", does: "whole width", run: () => chart.current?.zoomOut() },
    ...(props.across ? [{ keys: "w", does: "the other half", run: () => box && props.across?.(box) }] : []),
  ]);
  return (
    <>
      <ChartHost
        scene={scene}
        paints={paints}
        subject={props.subject}
        label={props.label}
        dimmed={props.late}
        onChart={(made) => (chart.current = made)}
        onSelect={setSelected}
        onExtend={open}
        card={(place) => <Card box={boxAt(place)} whole={whole} />}
      />
      <div class="flame-selection" aria-live="polite">
        {box ? (
          <>
            <strong class="clip" title={box.name}>
              {labelOf(box)}
            </strong>
            <span class="flame-selection-sums">
              {estimatedBytes(box.bytes)}, {percent(ratio(box.bytes, whole))}
            </span>
            <span class="quiet flame-selection-more">
              {count(box.sampled)} samples, {times(box)}
            </span>
            <span class="grow" />
            <button
              type="button"
              class="button small"
              title="Enter, or a double click"
              onClick={() => openBlock(box.example)}
            >
              One of the blocks
            </button>
            {props.actions?.(box)}
          </>
        ) : (
          <span class="quiet clip">{props.hint}</span>
        )}
      </div>
    </>
  );
}

/** When the blocks of a box were allocated. */
function times({ allocated: [first, last] }: SampledBox): string {
  const [from, to] = [seconds(first), seconds(last)];
  return from === to ? `allocated at ${from}` : `allocated from ${from} to ${to}`;
}

function Card({ box, whole }: { box: SampledBox | undefined; whole: number }) {
  if (!box) return null;
  const facts: [string, string][] = [
    ["alive", estimatedBytes(box.bytes)],
    ["of what is shown", percent(ratio(box.bytes, whole))],
    ["samples", count(box.sampled)],
    ["allocated", times(box).replace("allocated ", "")],
  ];
  return (
    <>
      <div class="flame-card-name">{box.name}</div>
      {box.place && <div class="quiet">{box.place}</div>}
      <dl>
        {facts.map(([term, text]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
