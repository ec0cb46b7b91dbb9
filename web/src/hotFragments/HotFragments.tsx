/** Points of interest: the functions and the call paths that carry the weight, each one click away. */
import "./hotFragments.css";
import { useQuery } from "../engine/useQuery.ts";
import type { HotFragment } from "../generated/responses.ts";
import { ALLOCATIONS, focusForUrl, focusOrToplevel, labelOfKey } from "../flame/keys.ts";
import type { SidePanel } from "../shell/registry.ts";
import { filter, focus, go, param, rec } from "../state/page.ts";
import { estimatedBytes as bytes } from "../state/estimates.ts";
import { grouped, percent } from "../text/units.ts";
import { Segmented } from "../widgets/Segmented.tsx";
import { Empty, ErrorMessage } from "../widgets/State.tsx";

const list = param("poi", "functions");
const LISTS = [
  { id: "functions", title: "Functions", what: "functions that much is allocated in" },
  { id: "paths", title: "Hot paths", what: "call paths that much is allocated in, as long as they can be" },
];

function HotFragments() {
  const { response, error, late } = useQuery({
    query: "hotfragments",
    rec: rec.value,
    filter: filter.value,
  });
  const paths = list.value === "paths";
  const fragments = response && (paths ? response.paths : response.functions);
  const count = response ? (paths ? response.path_count : response.function_count) : 0;
  const present = JSON.stringify(focusOrToplevel(focus.value));
  return (
    <div class={late ? "hot-fragments late" : "hot-fragments"}>
      <div class="hot-fragments-tools">
        <Segmented
          label="points of interest"
          options={LISTS}
          value={list.value}
          onChoose={(id) => list.set(id, "replace")}
        />
      </div>
      {fragments ? (
        fragments.length > 0 ? (
          <>
            <ul>
              {fragments.map((fragment) => (
                <Item
                  key={fragment.path.join("\n")}
                  fragment={fragment}
                  paths={paths}
                  here={JSON.stringify(fragment.path) === present}
                />
              ))}
            </ul>
            {count > fragments.length && (
              <p class="hot-fragments-rest quiet">and {grouped(count - fragments.length)} lighter ones</p>
            )}
            <p class="hot-fragments-rest quiet">
              or look from <Whole keys={[]}>the whole program</Whole>, from{" "}
              <Whole keys={[ALLOCATIONS]}>all allocations</Whole>
            </p>
          </>
        ) : (
          <Empty title="Nothing carries as much as 0.5 %" />
        )
      ) : (
        error && <ErrorMessage error={error} />
      )}
    </div>
  );
}

/** Looks from one of the two ends of all paths. */
function Whole({ keys, children }: { keys: readonly string[]; children: string }) {
  return (
    <button type="button" class="hot-fragments-whole" onClick={() => go({ focus: focusForUrl(keys), view: "flame" })}>
      {children}
    </button>
  );
}

function Item({ fragment, paths, here }: { fragment: HotFragment; paths: boolean; here: boolean }) {
  const labels = fragment.path.map(labelOfKey);
  const last = labels.at(-1) ?? "";
  return (
    <li>
      <button
        type="button"
        class="hot-fragment"
        aria-current={here ? "true" : undefined}
        title={`${labels.join("\n")}\n${bytes(fragment.bytes)}`}
        onClick={() => go({ focus: focusForUrl(fragment.path), view: "flame" })}
      >
        <span class="hot-fragment-bar" style={{ width: `${Math.min(1, fragment.share) * 100}%` }} />
        <span class="hot-fragment-name">{last}</span>
        <span class="hot-fragment-share">{percent(fragment.share)}</span>
        {paths && labels.length > 1 && <span class="hot-fragment-path">{through(labels, fragment.cut)}</span>}
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

export const hotFragmentsPanel: SidePanel = {
  id: "hot-fragments",
  title: "Points of interest",
  Component: HotFragments,
};
