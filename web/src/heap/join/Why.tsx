/** What retains what a function or call site allocated: owners, and retaining paths as a flame graph. */
import { useMemo } from "preact/hooks";
import { transformsPaths } from "../../filter/kinds.ts";
import { focusForUrl, labelOfKey } from "../../flame/keys.ts";
import { recursionOf } from "../../flame/trees.ts";
import type { OwnerShare, SampledBox } from "../../generated/responses.ts";
import type { View } from "../../shell/registry.ts";
import { recording } from "../../state/about.ts";
import { markOf } from "../../state/estimates.ts";
import { keyOf } from "../../state/filter.ts";
import { filter, go } from "../../state/page.ts";
import { bytesWithError, count, grouped, percent } from "../../text/units.ts";
import { Empty, ErrorMessage } from "../../widgets/State.tsx";
import { kindColour } from "../kindColour.ts";
import { dominatorHref, snapshot, useHeapQuery } from "../state.ts";
import { Age } from "./Age.tsx";
import { WhoOwnedButton } from "./Buttons.tsx";
import { joins, pathInQuestion, whyOf, whyWithin } from "./links.ts";
import { SampledFlame } from "./SampledFlame.tsx";

const MAX_OWNERS = 100;
const MAX_BOXES = 2000;
/** Owners shown before one asks for the others. */
const FIRST = 4;

const colour = ({ name }: SampledBox): number => kindColour(name);

function Why() {
  const within = whyWithin.value !== "";
  const name = whyOf.value;
  const path = pathInQuestion();
  // The path is one of the tree that these conditions leave.
  const transforms = path.length > 0 ? filter.value.filter((text) => transformsPaths(keyOf(text))) : [];
  const recursion = path.length > 0 ? recursionOf() : "folded";
  const title = (path.length > 0 ? path : [name]).map(labelOfKey).join(" → ");
  const { response, error, late } = useHeapQuery(
    name === ""
      ? null
      : { query: "heapwhy", name, within, path, transforms, recursion, limit: MAX_OWNERS, boxes: MAX_BOXES },
  );
  const boxes = useMemo(() => response?.boxes ?? [], [response]);
  const inFlame = (
    <button
      type="button"
      class="button small plain"
      onClick={() => go({ view: "flame", focus: focusForUrl(path.length > 0 ? path : [name]) })}
    >
      In the flame graph
    </button>
  );
  if (error && !response) return <ErrorMessage error={error}>{inFlame}</ErrorMessage>;
  if (!response) return name === "" ? <Empty title="No function is selected" /> : <div class="flame-place" />;
  const { alive, owners, owner_count, are_callers } = response;
  const mark = markOf(recording.value);
  return (
    <div class="joined">
      <div class="joined-head">
        <h2 class="clip" title={path.length > 0 ? title : response.names.join(", ")}>
          <span class="quiet">{are_callers ? "allocated inside" : "allocated by"}</span> {title}
        </h2>
        <span>
          <strong>
            {mark}
            {bytesWithError(alive.bytes.value, alive.bytes.stderr)}
          </strong>{" "}
          alive, {percent(response.share)} of all, in {mark}
          {count(alive.blocks.value)} blocks ({grouped(alive.sampled)} sampled)
        </span>
        <Age alive={alive} />
        <span class="grow" />
        {inFlame}
      </div>
      <Owners owners={owners} count={owner_count} />
      <SampledFlame
        boxes={boxes}
        subject={`${snapshot.value?.number} ${name} ${within} ${path.join("\n")}`}
        label={`Retaining paths of what ${title} allocated; roots on top`}
        late={late}
        colour={colour}
        hint="roots on top, what was allocated at the bottom; each box is as wide as what is retained through it"
      />
    </div>
  );
}

function Owners({ owners, count: all }: { owners: readonly OwnerShare[]; count: number }) {
  const rest = owners.slice(FIRST);
  return (
    <section class="joined-owners" aria-label="owners">
      <OwnerRows owners={owners.slice(0, FIRST)} />
      {rest.length > 0 && (
        <details>
          <summary>{grouped(all - FIRST)} more owners</summary>
          <OwnerRows owners={rest} />
        </details>
      )}
    </section>
  );
}

function OwnerRows({ owners }: { owners: readonly OwnerShare[] }) {
  return (
    <table class="block-table">
      <tbody>
        {owners.map((owner) => (
          <tr key={owner.node}>
            <td class="number">{percent(owner.share)}</td>
            <td class="number">{bytesWithError(owner.alive.bytes.value, owner.alive.bytes.stderr)}</td>
            <td class="wide-cell">
              <span class="quiet">owned by </span>
              <a href={dominatorHref(owner.node)} title={owner.name}>
                {owner.name}
              </a>
              {owner.type && <span class="quiet"> : {owner.type}</span>}{" "}
              <span class="quiet">{owner.position ?? owner.kind}</span>
            </td>
            <td>
              <Age alive={owner.alive} />
            </td>
            <td>
              <WhoOwnedButton node={owner.node} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export const whyView: View = {
  id: "why",
  half: "heap",
  title: "Retained by",
  what: "What retains what a function allocated: owners and retaining paths",
  Component: Why,
  applies: () => joins.value && whyOf.value !== "",
};
