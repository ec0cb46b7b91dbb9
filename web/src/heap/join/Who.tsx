/** Who allocated some blocks: the calls as a flame graph. */
import { useMemo } from "preact/hooks";
import { focusForUrl } from "../../flame/keys.ts";
import type { SampledBox } from "../../generated/responses.ts";
import type { View } from "../../shell/registry.ts";
import { recording } from "../../state/about.ts";
import { markOf } from "../../state/estimates.ts";
import { go } from "../../state/page.ts";
import { bytes, bytesWithError, grouped } from "../../text/units.ts";
import { Empty, ErrorMessage } from "../../widgets/State.tsx";
import { snapshot, useHeapQuery } from "../state.ts";
import { Age } from "./Age.tsx";
import { WhyButton } from "./Buttons.tsx";
import { joins, showWhy, whoOf } from "./links.ts";
import { callColour } from "./scene.ts";
import { SampledFlame } from "./SampledFlame.tsx";

const MAX_BOXES = 3000;

/** What the parameter asks for. */
function asked(): { owner: string } | { node: string } | { name: string } | null {
  const [, sort, text] = /^(owner|node|name):(.+)$/s.exec(whoOf.value) ?? [];
  if (text === undefined) return null;
  return sort === "owner" ? { owner: text } : sort === "node" ? { node: text } : { name: text };
}

const RELATION: Readonly<Record<string, string>> = {
  owner: "owned by",
  type: "of type",
  kind: "of kind",
  node: "retained by",
};

function Who() {
  const what = asked();
  const { response, error, late } = useHeapQuery(
    what && { query: "heapwho", ...what, by: "site", limit: 1, boxes: MAX_BOXES },
  );
  const boxes = useMemo(() => response?.boxes ?? [], [response]);
  if (error && !response) return <ErrorMessage error={error} />;
  if (!response) return what ? <div class="flame-place" /> : <Empty title="Nothing is selected" />;
  const { alive, names, of, size, external } = response;
  const name = names.join(", ");
  return (
    <div class="joined">
      <div class="joined-head">
        <h2 class="clip" title={name}>
          <span class="quiet">{RELATION[of] ?? of}</span> {name}
        </h2>
        <span>
          <strong>{bytes(size)}</strong>
          {external > 0 && <> and {bytes(external)} off-heap</>}, exactly; {markOf(recording.value)}
          {bytesWithError(alive.bytes.value, alive.bytes.stderr)} by {grouped(alive.sampled)} sampled blocks
        </span>
        <Age alive={alive} />
      </div>
      {alive.sampled === 0 ? (
        <Empty title="None of the blocks was sampled">
          <p>A higher --rate of memtrail run samples more.</p>
        </Empty>
      ) : (
        <SampledFlame
          boxes={boxes}
          subject={`${snapshot.value?.number} ${whoOf.value}`}
          label={`Calls that allocated ${name}; the program's entry on top`}
          late={late}
          colour={callColour}
          hint="the program's entry on top, what allocated at the bottom; widths are estimates of all blocks"
          actions={(box) => box.key !== null && <BoxButtons box={box} name={box.key} />}
          across={(box) => box.key !== null && showWhy(box.key, !isSite(box))}
        />
      )}
    </div>
  );
}

/** A call site's key is more than the function's name. */
const isSite = ({ key, name }: SampledBox): boolean => key !== name;

function BoxButtons({ box, name }: { box: SampledBox; name: string }) {
  return (
    <>
      <WhyButton name={name} within={!isSite(box)} />
      <button
        type="button"
        class="button small plain"
        onClick={() => go({ view: "flame", focus: focusForUrl([name]) })}
      >
        In the flame graph
      </button>
    </>
  );
}

export const whoView: View = {
  id: "who",
  half: "heap",
  title: "Allocated by",
  what: "Who allocated what a root, block or kind of block retains",
  Component: Who,
  applies: () => joins.value && whoOf.value !== "",
};
