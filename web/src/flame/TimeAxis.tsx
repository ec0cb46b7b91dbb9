/** Marks of time, or of memory allocated, below a flame graph in the order of time. */
import type { Signal } from "@preact/signals";
import { elapsedMark, marks, sizeSteps, timeSteps } from "../timeline/axis.ts";
import { bytes } from "../text/units.ts";
import type { Chart } from "./chart.ts";

interface Props {
  chart: Chart;
  /** Changes whenever the view moves. */
  moves: Signal<number>;
  extent: number;
  unit: "time" | "allocation";
}

/** CSS pixels between two marks, at least. */
const APART = 90;

export function TimeAxis({ chart, moves, extent, unit }: Props) {
  void moves.value;
  const { from, to } = chart.present;
  const width = Math.max(1, chart.element.clientWidth);
  const [left, right] = [from * extent, to * extent];
  const steps = unit === "time" ? timeSteps : sizeSteps;
  const every = steps.find((step) => (step / (right - left)) * width >= APART) ?? steps.at(-1)!;
  const text = (at: number): string => (unit === "time" ? elapsedMark(at, every) : bytes(at));
  return (
    <div class="flame-axis" aria-hidden="true">
      {marks(left, right, every, 0).map((at) => (
        <span key={at} style={{ left: `${((at - left) / (right - left)) * width}px` }}>
          {text(at)}
        </span>
      ))}
    </div>
  );
}
