/** What changed between two snapshots, and what grew from each snapshot to the next. */
import type { View } from "../shell/registry.ts";
import { param } from "../state/page.ts";
import { Segmented } from "../widgets/Segmented.tsx";
import { Empty } from "../widgets/State.tsx";
import { Differences } from "./changes/Differences.tsx";
import { Grown } from "./changes/Grown.tsx";
import { included, snapshots } from "./state.ts";

const what = param("changes", "diff");

const WHAT = [
  { id: "diff", title: "Two snapshots", what: "what is more and what is less in one of two" },
  { id: "growth", title: "Growth", what: "only what grew from snapshot to snapshot" },
];

function Changes() {
  const growth = what.value === "growth";
  if (snapshots.value.length < 2) {
    return (
      <Empty title="There is only one snapshot">
        <p>memtrail run --snapshot every-major takes one at each major collection.</p>
      </Empty>
    );
  }
  const switcher = (
    <Segmented label="changes" options={WHAT} value={growth ? "growth" : "diff"} onChoose={(id) => what.set(id)} />
  );
  if (growth) return <Grown switcher={switcher} />;
  if (included.value.length < 2) {
    return (
      <Empty title="Only one snapshot can be looked at here">
        <p>{switcher}</p>
      </Empty>
    );
  }
  return <Differences switcher={switcher} />;
}

export const changesView: View = {
  id: "changes",
  half: "heap",
  title: "Changes",
  what: "What changed between two snapshots, and what always grew",
  Component: Changes,
};
