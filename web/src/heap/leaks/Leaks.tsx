/** Leak suspects in descriptions, as the engine wrote them: what grows, who allocated it, what owns it. */
import type { View } from "../../shell/registry.ts";
import { go, page, withParam } from "../../state/page.ts";
import { recording } from "../../state/about.ts";
import { bytes, percent } from "../../text/units.ts";
import { Empty, ErrorMessage } from "../../widgets/State.tsx";
import type { ClearedOwner, Suspect } from "../../generated/responses.ts";
import { WhoBelowButton, WhyButton } from "../join/Buttons.tsx";
import { openNode, useHeapQuery } from "../state.ts";

const MAX_SUSPECTS = 20;

function Leaks() {
  const { response, error } = useHeapQuery({ query: "heapleaks", limit: MAX_SUSPECTS });
  if (error && !response) return <ErrorMessage error={error} />;
  if (!response) return null;
  const { suspects, cleared, summary } = response;
  return (
    <section class="leaks" aria-label="Leak suspects">
      {suspects.length === 0 && <Empty title="No suspect" />}
      <ol class="suspects">
        {suspects.map((suspect) => (
          <SuspectItem key={suspect.node} suspect={suspect} />
        ))}
      </ol>
      {summary.map((description) => (
        <p class="quiet" key={description}>
          {description}
        </p>
      ))}
      {cleared.length > 0 && <Cleared owners={cleared} />}
    </section>
  );
}

function SuspectItem({ suspect }: { suspect: Suspect }) {
  const { heading, descriptions, rule, evidence, node, owner, next } = suspect;
  return (
    <li class="suspect">
      <h3>{heading}</h3>
      {descriptions.map((description) => (
        <p key={description}>{description}</p>
      ))}
      <p class="quiet">
        {rule}: {evidence}
      </p>
      <p class="suspect-actions">
        {node !== "" && (
          <button type="button" class="button small" onClick={() => openNode(node)}>
            What is in it
          </button>
        )}
        {next !== null && <WhyButton name={next} within={false} />}
        {node !== "" && <WhoBelowButton node={node} />}
        <button type="button" class="button small plain" onClick={() => showOwner(owner)}>
          Among the roots
        </button>
      </p>
    </li>
  );
}

function Cleared({ owners }: { owners: readonly ClearedOwner[] }) {
  return (
    <>
      <h3>No suspects, by size</h3>
      <ul class="cleared">
        {owners.map(({ owner, bytes: size, share, reason }) => (
          <li key={owner}>
            {owner}, {bytes(size)}, {percent(share)}: <span class="quiet">{reason}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function showOwner(owner: string): void {
  const name = owner.split(" / ").at(-1) ?? owner;
  go({ view: "roots", more: withParam(page.value.more, "roots-find", name) });
}

export const leaksView: View = {
  id: "leaks",
  half: "heap",
  title: "Leaks",
  what: "What grows, who allocated it, and what owns it",
  Component: Leaks,
  // Without samples, one snapshot does not tell what grows.
  applies: () => recording.value?.trace !== false,
};
