/** Filters that answer the usual questions, a click each. */
import { useQuery } from "../engine/useQuery.ts";
import { recording } from "../state/about.ts";
import { filter, go, rec } from "../state/page.ts";
import { shown } from "../timeline/ranges.ts";

export function Presets() {
  const run = recording.value;
  const span = run && shown(filter.value, ["allocated"], run.duration, run.totals.peak.time)?.spans[0];
  // "Growth" is between the two moments that are selected, if there are any.
  const between = span && span.from !== null && span.to !== null ? { from: span.from, to: span.to } : {};
  const { response } = useQuery(run ? { query: "presets", rec: rec.value, ...between } : null);
  if (!response) return null;
  const present = JSON.stringify(filter.value);
  return (
    <div class="presets" role="group" aria-label="ready-made filters">
      {response.presets.map(({ id, name, why, conditions }) => {
        const on = JSON.stringify(conditions) === present;
        return (
          <button
            key={id}
            type="button"
            class="preset"
            aria-pressed={on}
            title={why}
            onClick={() => go({ filter: on ? [] : conditions })}
          >
            {name}
          </button>
        );
      })}
    </div>
  );
}
