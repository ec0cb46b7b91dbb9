/** Two recordings, or two filters of one: what is new, gone, grown and shrunk. */
import "./compare.css";
import { useEffect } from "preact/hooks";
import type { View } from "../shell/registry.ts";
import { about } from "../state/about.ts";
import { go, param } from "../state/page.ts";
import { Segmented } from "../widgets/Segmented.tsx";
import { ChangeFlame } from "./ChangeFlame.tsx";
import { ChangeTable } from "./ChangeTable.tsx";
import type { Scale } from "./change.ts";
import { baseline, present, shownInstead } from "./sides.ts";
import { Begin, Sides } from "./Sides.tsx";
import type { Width } from "./union.ts";

const shape = param("cmp", "flame");
const normalise = param("normalise", "none");
const width = param("width", "both");

const SHAPES = [
  { id: "flame", title: "Flame graph" },
  { id: "table", title: "Table" },
];
const NORMALISE = [
  { id: "none", title: "Bytes", what: "as they are" },
  { id: "duration", title: "Per second", what: "both as if they had run for the same time" },
  { id: "allocated", title: "Shares", what: "both as if the same had been allocated in all" },
];
const WIDTHS = [
  { id: "both", title: "Both", what: "boxes are as wide as before and after together" },
  { id: "before", title: "Before", what: "boxes are as wide as before" },
  { id: "after", title: "After", what: "boxes are as wide as after" },
];

function selected(options: readonly { id: string }[], id: string): string {
  return (options.find((option) => option.id === id) ?? options[0]!).id;
}

function Compare() {
  const recordings = about.value?.recordings.length ?? 0;
  const instead = shownInstead(recordings);
  useEffect(() => {
    if (instead !== null) go({ rec: instead }, "replace");
  }, [instead]);
  const before = baseline(recordings);
  if (!before) return <Begin />;
  if (instead !== null) return null;
  const sides = { a: before, b: present(), normalise: selected(NORMALISE, normalise.value) as Scale };
  const flame = selected(SHAPES, shape.value) === "flame";
  return (
    <div class="compare">
      <div class="compare-tools">
        <Sides before={before} />
        <div class="compare-choices">
          {before.rec !== sides.b.rec && heaps(before.rec) && heaps(sides.b.rec) && (
            <button
              type="button"
              class="button small"
              title="Compare the heap snapshots of both: by owner, kind and root"
              onClick={() => go({ view: "changes" })}
            >
              Heap snapshots
            </button>
          )}
          <Segmented
            label="shape"
            options={SHAPES}
            value={selected(SHAPES, shape.value)}
            onChoose={(id) => shape.set(id)}
          />
          <Segmented label="scale" options={NORMALISE} value={sides.normalise} onChoose={(id) => normalise.set(id)} />
          {flame && (
            <Segmented
              label="width of boxes"
              options={WIDTHS}
              value={selected(WIDTHS, width.value)}
              onChoose={(id) => width.set(id)}
            />
          )}
        </div>
      </div>
      {flame ? (
        <ChangeFlame sides={sides} width={selected(WIDTHS, width.value) as Width} />
      ) : (
        <ChangeTable sides={sides} />
      )}
    </div>
  );
}

/** Whether a recording has heap snapshots. */
const heaps = (rec: number): boolean => (about.value?.recordings[rec]?.snapshots ?? 0) > 0;

export const compareView: View = {
  id: "compare",
  half: "allocations",
  title: "Compare",
  what: "Two recordings, or two filters of one: what is new, gone, grown and shrunk",
  Component: Compare,
};
