/** Everything that is known about the recorded run. */
import type { View } from "../shell/registry.ts";
import { recording } from "../state/about.ts";
import { Empty } from "../widgets/State.tsx";

function Info() {
  const run = recording.value;
  if (!run) return <Empty title="no recording" />;
  return <div class="info">{run.program}</div>;
}

export const infoView: View = {
  id: "info",
  title: "Info",
  what: "what was recorded, and how",
  Component: Info,
};
