/** Points of interest: the functions and the call paths that carry the weight, each one click away. */
import "./suspects.css";
import { useAsk } from "../engine/asking.ts";
import type { HotFragment } from "../generated/responses.ts";
import { ALLOCATIONS, focusForUrl, focusOrToplevel, labelOfKey } from "../flame/keys.ts";
import type { SidePanel } from "../shell/registry.ts";
import { filter, focus, go, param, rec } from "../state/page.ts";
import { estimatedBytes as bytes } from "../state/estimates.ts";
import { grouped, percent } from "../text/units.ts";
import { Segmented } from "../widgets/Segmented.tsx";
import { Empty, Refusal } from "../widgets/State.tsx";

const list = param("poi", "functions");
const LISTS = [
  { id: "functions", title: "Functions", what: "functions that much is allocated in" },
  { id: "paths", title: "Hot paths", what: "call paths that much is allocated in, as long as they can be" },
];

function Suspects() {
  const { answer, error, late } = useAsk({
    ask: "hotfragments",
    rec: rec.value,
    filter: filter.value,
  });
  const paths = list.value === "paths";
  const suspects = answer && (paths ? answer.paths : answer.functions);
  const count = answer ? (paths ? answer.path_count : answer.function_count) : 0;
  const present = JSON.stringify(focusOrToplevel(focus.value));
  return (
    <div class={late ? "suspects late" : "suspects"}>
      <div class="suspects-tools">
        <Segmented
          label="points of interest"
          choices={LISTS}
          value={list.value}
          onChoose={(id) => list.set(id, "replace")}
        />
      </div>
      {suspects ? (
        suspects.length > 0 ? (
          <>
            <ul>
              {suspects.map((suspect) => (
                <Item
                  key={suspect.path.join("\n")}
                  suspect={suspect}
                  paths={paths}
                  here={JSON.stringify(suspect.path) === present}
                />
              ))}
            </ul>
            {count > suspects.length && (
              <p class="suspects-rest quiet">and {grouped(count - suspects.length)} lighter ones</p>
            )}
            <p class="suspects-rest quiet">
              or look from <Whole keys={[]}>the whole program</Whole>, from{" "}
              <Whole keys={[ALLOCATIONS]}>all allocations</Whole>
            </p>
          </>
        ) : (
          <Empty title="Nothing carries as much as 0.5 %" />
        )
      ) : (
        error && <Refusal error={error} />
      )}
    </div>
  );
}

/** Looks from one of the two ends of all paths. */
function Whole({ keys, children }: { keys: readonly string[]; children: string }) {
  return (
    <button type="button" class="suspects-whole" onClick={() => go({ focus: focusForUrl(keys), view: "flame" })}>
      {children}
    </button>
  );
}

function Item({ suspect, paths, here }: { suspect: HotFragment; paths: boolean; here: boolean }) {
  const labels = suspect.path.map(labelOfKey);
  const last = labels.at(-1) ?? "";
  return (
    <li>
      <button
        type="button"
        class="suspect"
        aria-current={here ? "true" : undefined}
        title={`${labels.join("\n")}\n${bytes(suspect.bytes)}`}
        onClick={() => go({ focus: focusForUrl(suspect.path), view: "flame" })}
      >
        <span class="suspect-bar" style={{ width: `${Math.min(1, suspect.share) * 100}%` }} />
        <span class="suspect-name">{last}</span>
        <span class="suspect-share">{percent(suspect.share)}</span>
        {paths && labels.length > 1 && <span class="suspect-path">{through(labels, suspect.cut)}</span>}
      </button>
    </li>
  );
}

/** Where a path begins, and how long it is: its end is the name above. */
function through(labels: readonly string[], cut: number): string {
  if (cut > 0) return `the innermost ${labels.length} of ${labels.length + cut} functions`;
  const between = labels.length - 2;
  if (between === 0) return `from ${labels[0]}`;
  return `from ${labels[0]} through ${between} ${between === 1 ? "function" : "functions"}`;
}

export const suspectsPanel: SidePanel = {
  id: "suspects",
  title: "Points of interest",
  Component: Suspects,
};
