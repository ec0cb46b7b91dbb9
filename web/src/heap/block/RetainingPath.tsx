/** The path from a root to a block; blocks on every path stand out. */
import { bytes, grouped } from "../../text/units.ts";
import type { FoldedContainer, PathStep } from "../../generated/responses.ts";
import { allocatedBy } from "../allocatedBy.ts";
import { blockHref, dominatorHref } from "../state.ts";

/** Steps shown at each end of a long path. */
const ENDS = 20;

export function RetainingPath({ steps }: { steps: readonly PathStep[] }) {
  const left = steps.length > 2 * ENDS + 1 ? steps.length - 2 * ENDS : 0;
  return (
    <ol class="retaining-path">
      {steps.map((step, index) => {
        if (left > 0 && index === ENDS) {
          return (
            <li key="left" class="faint">
              … {grouped(left)} more steps …
            </li>
          );
        }
        return left > 0 && index > ENDS && index < ENDS + left ? null : (
          <Step key={index} step={step} last={index === steps.length - 1} />
        );
      })}
    </ol>
  );
}

/** What is in a container: `20,000 entries: keys 1.1 MiB, values 93 MiB`. */
function contents({ entries, keys, values }: FoldedContainer): string {
  const all = [...(keys ? [`keys ${bytes(keys.retained)}`] : []), `values ${bytes(values.retained)}`];
  return `${grouped(entries)} ${entries === 1 ? "entry" : "entries"}: ${all.join(", ")}`;
}

function Step({ step, last }: { step: PathStep; last: boolean }) {
  const { name, type, position, node, block, field, field_name, times, dominates, retained, allocated, container } =
    step;
  const href = last ? null : block !== null ? blockHref(block) : node !== null ? dominatorHref(node) : null;
  return (
    <li class={dominates ? "path-step dominates" : "path-step"}>
      <span class="path-step-name" title={dominates ? `${name}: every path leads through it` : name}>
        {href ? <a href={href}>{container ? `in ${container.structure}` : name}</a> : name}
        {container && <span class="quiet"> of {contents(container)}</span>}
        {type && <span class="quiet"> : {type}</span>}
        {times > 1 && <span class="quiet"> × {grouped(times)}</span>}
      </span>
      {retained !== null && <span class="path-step-size">{bytes(retained)}</span>}
      {position && <span class="path-step-field">{position}</span>}
      {field !== null && !last && <span class="path-step-field">{field_name ?? `field ${field}`}</span>}
      {allocated && <span class="path-step-allocated">{allocatedBy(allocated)}</span>}
    </li>
  );
}
