/** Everything that is known about the recorded run. */
import "./info.css";
import type { RecordingInfo } from "../generated/responses.ts";
import { useQuery } from "../engine/useQuery.ts";
import type { View } from "../shell/registry.ts";
import { about, recording } from "../state/about.ts";
import { rec } from "../state/page.ts";
import { Icon } from "../widgets/Icon.tsx";
import { copyText } from "../widgets/notice.ts";
import { Empty } from "../widgets/State.tsx";
import { asText, caveats, facts } from "./facts.ts";

function Info() {
  const run = recording.value;
  const { response: process } = useQuery(run && { query: "process", rec: rec.value });
  if (!run) return about.value ? <Empty title="no recording" /> : null;
  return (
    <div class="info">
      <div class="info-head">
        <h2 class="grow clip mono" title={run.args.join(" ")}>
          {run.args.join(" ") || run.program}
        </h2>
        <button
          type="button"
          class="button small"
          onClick={() => void copyText(asText(run, about.value?.version ?? "", process), "text")}
        >
          <Icon name="copy" /> Copy as text
        </button>
      </div>
      <div class="info-groups">
        {facts(run, about.value?.version ?? "", process).map(({ title, rows }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {rows.map(({ name, value, mono }) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd class={mono ? "mono" : ""}>{value}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <Lines title="Damage" lines={run.damage} bad />
        <Lines title="What figures mean" lines={caveats(run)} />
        <Lines title="Notes of the recorder" lines={run.notes.filter((note) => note !== run.caveats.estimates)} />
      </div>
    </div>
  );
}

function Lines({ title, lines, bad = false }: { title: string; lines: RecordingInfo["notes"]; bad?: boolean }) {
  if (lines.length === 0) return null;
  return (
    <section class={bad ? "bad" : ""}>
      <h3>{title}</h3>
      <ul>
        {lines.map((line, index) => (
          <li key={index}>{line}</li>
        ))}
      </ul>
    </section>
  );
}

export const infoView: View = {
  id: "info",
  half: "allocations",
  title: "Info",
  what: "what was recorded, and how",
  Component: Info,
};
