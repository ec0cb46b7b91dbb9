/** Leak suspects of all processes of a family, each with the way to the process that it is of. */
import { useQuery } from "../../engine/useQuery.ts";
import type { View } from "../../shell/registry.ts";
import { about, hasFamilyLeaks, recording } from "../../state/about.ts";
import { go, rec, withParam } from "../../state/page.ts";
import { Empty, ErrorMessage } from "../../widgets/State.tsx";
import type { FamilyLeaksResponse, ProcessLeaks, ProcessSuspect } from "../../generated/responses.ts";
import { heapRevision, ofNoRecording } from "../state.ts";
import { SuspectText, Unreachable } from "./Suspects.tsx";

const MAX_SUSPECTS = 20;

function FamilyLeaks() {
  const version = `f${heapRevision.value}.${recording.value?.members.length ?? 0}`;
  const { response, error } = useQuery({ query: "familyleaks", rec: rec.value, limit: MAX_SUSPECTS }, version);
  if (error && !response) return <ErrorMessage error={error} />;
  return response && <Found found={response} />;
}

function Found({ found: { conclusion, suspects, processes, advice } }: { found: FamilyLeaksResponse }) {
  return (
    <section class="leaks" aria-label="Leak suspects">
      {suspects.length === 0 && <Empty title={conclusion.description} />}
      <ol class="suspects">
        {suspects.map((suspect, index) => (
          <li key={`${suspect.rec} ${suspect.node || index}`} class="suspect">
            <p class="quiet">in {suspect.process}</p>
            <SuspectText suspect={suspect} />
            <p class="suspect-actions">
              <Actions suspect={suspect} />
            </p>
          </li>
        ))}
      </ol>
      <h3>Processes</h3>
      <ul class="cleared" aria-label="Processes">
        {processes.map((process) => (
          <Process key={process.rec} process={process} />
        ))}
      </ul>
      {advice && <p class="quiet">{advice}</p>}
    </section>
  );
}

function Actions({ suspect }: { suspect: ProcessSuspect }) {
  const { node, rec: of, process } = suspect;
  return (
    <>
      {node !== "" && (
        <button type="button" class="button small" onClick={() => openIn(of, "dominators", node)}>
          What is in it
        </button>
      )}
      <button type="button" class="button small plain" onClick={() => openLeaks(of)}>
        Leaks of {process}
      </button>
    </>
  );
}

function Process({ process }: { process: ProcessLeaks }) {
  const { rec: of, process: name, description, unreachable } = process;
  return (
    <li>
      <button type="button" class="button small plain" onClick={() => openLeaks(of)}>
        {name}
      </button>
      : <span class="quiet">{description}</span>
      {unreachable && <Unreachable found={unreachable} />}
    </li>
  );
}

function openLeaks(of: number): void {
  const run = about.value?.recordings[of];
  openIn(of, run && run.snapshots > 0 ? "leaks" : "siteleaks", "");
}

/** Without filters: they may be about processes, of which one alone has none. */
function openIn(of: number, view: string, node: string): void {
  go({ rec: of, view, focus: [], filter: [], more: withParam(ofNoRecording(), "node", node) });
}

export const familyLeaksView: View = {
  id: "familyleaks",
  half: "allocations",
  title: "Leaks",
  what: "What grows in any of the processes, and what owns it",
  Component: FamilyLeaks,
  applies: () => recording.value !== null && hasFamilyLeaks(recording.value, about.value?.recordings ?? []),
};
