/** Buttons that lead from one half of the page to the other. */
import type { NodeId } from "../node.ts";
import { joins, showWhoBelow, showWhoNamed, showWhoOwned, showWhy } from "./links.ts";

const WHO = "who allocated the blocks";

interface Button {
  label: string;
  title: string;
  run(): void;
}

function JoinButton({ label, title, run }: Button) {
  return joins.value ? (
    <button type="button" class="button small plain" title={`${title} (w)`} onClick={run}>
      {label}
    </button>
  ) : null;
}

export function WhyButton({ name, within }: { name: string; within: boolean }) {
  const title = "retaining paths and owners of what it allocated and is alive";
  return <JoinButton label="What retains it" title={title} run={() => showWhy(name, within)} />;
}

export function WhoOwnedButton({ node }: { node: NodeId }) {
  return <JoinButton label="Who allocated it" title={`${WHO} that it owns`} run={() => showWhoOwned(node)} />;
}

export function WhoBelowButton({ node }: { node: NodeId }) {
  return <JoinButton label="Who allocated it" title={`${WHO} that it retains`} run={() => showWhoBelow(node)} />;
}

export function WhoNamedButton({ name }: { name: string }) {
  return <JoinButton label="Who allocated them" title={`${WHO} of the kind`} run={() => showWhoNamed(name)} />;
}
