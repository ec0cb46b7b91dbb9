/** The way from a root down to a block; what every way leads through stands out. */
import { bytes, grouped } from "../../text/units.ts";
import type { PathStep } from "../../generated/responses.ts";
import { blockHref, dominatorHref } from "../state.ts";

/** Steps shown at each end of a long way. */
const ENDS = 20;

export function WayDown({ steps }: { steps: readonly PathStep[] }) {
  const left = steps.length > 2 * ENDS + 1 ? steps.length - 2 * ENDS : 0;
  return (
    <ol class="way">
      {steps.map((step, index) => {
        if (left > 0 && index === ENDS) {
          return (
            <li key="left" class="faint">
              … {grouped(left)} more steps …
            </li>
          );
        }
        return left > 0 && index > ENDS && index < ENDS + left ? null : (
          <Hop key={index} step={step} last={index === steps.length - 1} />
        );
      })}
    </ol>
  );
}

function Hop({ step, last }: { step: PathStep; last: boolean }) {
  const { name, type, position, node, block, field, times, dominates, retained } = step;
  const href = last ? null : block !== null ? blockHref(block) : node !== null ? dominatorHref(node) : null;
  return (
    <li class={dominates ? "hop dominates" : "hop"}>
      <span class="hop-name" title={dominates ? `${name}: every way leads through it` : name}>
        {href ? <a href={href}>{name}</a> : name}
        {type && <span class="quiet"> : {type}</span>}
        {times > 1 && <span class="quiet"> × {grouped(times)}</span>}
      </span>
      {retained !== null && <span class="hop-size">{bytes(retained)}</span>}
      {position && <span class="hop-field">{position}</span>}
      {field !== null && !last && <span class="hop-field">field {field}</span>}
    </li>
  );
}
