/** Leak suspects in descriptions, as the engine wrote them: what grows, who allocated it, what owns it. */
import type { ComponentChildren } from "preact";
import { useQuery } from "../../engine/useQuery.ts";
import { quoteName } from "../../filter/write.ts";
import type { View } from "../../shell/registry.ts";
import { go, page, rec, withParam } from "../../state/page.ts";
import { hasSiteLeaks, recording } from "../../state/about.ts";
import { bytes, percent } from "../../text/units.ts";
import { Empty, ErrorMessage } from "../../widgets/State.tsx";
import type { ClearedOwner, LeaksResponse, Suspect } from "../../generated/responses.ts";
import { WhoBelowButton, WhyButton } from "../join/Buttons.tsx";
import { openNode, useHeapQuery } from "../state.ts";
import { SuspectText, Unreachable } from "./Suspects.tsx";

const MAX_SUSPECTS = 20;

function Leaks() {
  const { response, error } = useHeapQuery({ query: "heapleaks", limit: MAX_SUSPECTS });
  if (error && !response) return <ErrorMessage error={error} />;
  return response && <SuspectList found={response} actions={ownerActions} />;
}

/** Of a program that frees its memory itself: call sites. */
function SiteLeaks() {
  const { response, error } = useQuery({ query: "siteleaks", rec: rec.value, limit: MAX_SUSPECTS });
  if (error && !response) return <ErrorMessage error={error} />;
  return response && <SuspectList found={response} actions={siteActions} />;
}

interface Props {
  found: LeaksResponse;
  /** Leads from a suspect to where more is known of it. */
  actions(suspect: Suspect): ComponentChildren;
}

function SuspectList({ found: { suspects, cleared, conclusion, summary, unreachable }, actions }: Props) {
  return (
    <section class="leaks" aria-label="Leak suspects">
      {unreachable && <Unreachable found={unreachable} />}
      {suspects.length === 0 && <Empty title={conclusion.description} />}
      <ol class="suspects">
        {suspects.map((suspect, index) => (
          <li key={suspect.node || index} class="suspect">
            <SuspectText suspect={suspect} />
            <p class="suspect-actions">{actions(suspect)}</p>
          </li>
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

function ownerActions({ node, owner, next }: Suspect) {
  return (
    <>
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
    </>
  );
}

function siteActions({ allocated }: Suspect) {
  const calls = allocated.map(({ function: name }) => `in:${quoteName(name)}`);
  const title = "the flame graph of what was allocated there and is not freed";
  return (
    <button type="button" class="button small" title={title} onClick={() => showCalls(["live:end", ...calls])}>
      Its calls
    </button>
  );
}

function showCalls(filter: readonly string[]): void {
  go({ view: "flame", filter, focus: [] });
}

function Cleared({ owners }: { owners: readonly ClearedOwner[] }) {
  return (
    <>
      <h3>Not suspected, by size</h3>
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

export const siteLeaksView: View = {
  id: "siteleaks",
  half: "allocations",
  title: "Leaks",
  what: "Which calls allocate ever more than is freed",
  Component: SiteLeaks,
  applies: () => recording.value !== null && hasSiteLeaks(recording.value),
};
