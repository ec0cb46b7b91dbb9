/** What the areas are, and how much each is in the snapshot under the mouse, or else the selected one. */
import { bytes } from "../../text/units.ts";
import { page, withParam } from "../../state/page.ts";
import { printHash } from "../../state/url.ts";
import type { EvolutionResponse } from "../../generated/responses.ts";
import { withHeld } from "../held.ts";
import { snapshot, snapshots } from "../state.ts";
import { spoken } from "./Chart.tsx";

interface Props {
  response: EvolutionResponse | null;
  paints: readonly string[];
  hovered: number | null;
  by: "kind" | "root";
}

export function Legend({ response, paints, hovered, by }: Props) {
  const number = hovered ?? snapshot.value?.number;
  const one = snapshots.value.find((one) => one.number === number);
  const at = response && number !== undefined ? response.snapshots.indexOf(number) : -1;
  const rest = response?.rest[at] ?? 0;
  return (
    <div class="evolution-legend" aria-label="what the areas are">
      <p title={one && spoken(one)}>
        {one && (
          <>
            <strong>snapshot {one.number}</strong>
            <span class="quiet clip grow">{one.label === null ? one.reason : `“${one.label}”`}</span>
          </>
        )}
        <strong>{at >= 0 && bytes(response!.total[at]!)}</strong>
        {at >= 0 && one?.damage != null && <span class="quiet">partial</span>}
      </p>
      <ul>
        {response?.series.map(({ name, kind, holds, bytes: sizes }, index) =>
          at >= 0 && sizes[at] === 0 ? null : (
            <li key={`${kind} ${name}`}>
              <a class="legend-row" href={hrefOf(by, name)} title={withHeld(kind ? `${kind}: ${name}` : name, holds)}>
                <span class="swatch" style={{ "--fill": paints[index] }} />
                <span class="clip grow">
                  {withHeld(name, holds)} {kind && <span class="quiet">{kind}</span>}
                </span>
                <span>{at >= 0 ? bytes(sizes[at]!) : "…"}</span>
              </a>
            </li>
          ),
        )}
        {rest > 0 && (
          <li class="legend-row quiet">
            <span class="swatch" style={{ "--fill": paints.at(-1) }} />
            <span class="grow">all others</span>
            <span>{bytes(rest)}</span>
          </li>
        )}
      </ul>
    </div>
  );
}

/** Where more is shown about what an area is. */
function hrefOf(by: "kind" | "root", name: string): string {
  const { more } = page.value;
  if (by === "root")
    return `#${printHash({ ...page.value, view: "roots", more: withParam(more, "roots-find", lastPart(name)) })}`;
  return `#${printHash({ ...page.value, view: "paths", more: withParam(withParam(more, "to", name), "node", "") })}`;
}

/** A root's own name, of `kind: coarse / finer / own`. */
function lastPart(name: string): string {
  return name.split(" / ").at(-1) ?? name;
}
