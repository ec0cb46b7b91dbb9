/** The line below the flame graph: what is selected, and what can be done with it. */
import { WhyButton } from "../heap/join/Buttons.tsx";
import { SourceButton } from "../source/SourceButton.tsx";
import type { Facts } from "./facts.ts";

interface Props {
  facts: Facts | null;
  /** What there was of it in the baseline. */
  before: string | null;
  /** Names the callees, the callers or the focus: what "extend" means. */
  extend: { label: string; run(): void } | null;
  zoom(): void;
  /** Opens the menu beside its button. */
  menu(button: Element): void;
}

export function Selection({ facts, before, extend, zoom, menu }: Props) {
  if (!facts) {
    return (
      <div class="flame-selection quiet">
        <span class="clip">
          Click selects, double click takes into the focus, right click opens a menu, Shift+click and Ctrl+wheel zoom.
        </span>
      </div>
    );
  }
  const name = facts.kind === "function" || facts.kind === "site" ? facts.functionName : null;
  return (
    <div class="flame-selection">
      <strong class="clip" title={facts.name}>
        {facts.name}
      </strong>
      <span class="clip quiet flame-selection-place">{facts.place}</span>
      <span class="flame-selection-sums">
        {facts.size}
        <span class="quiet"> · {facts.ofTotal}</span>
        {before !== null && <span class="quiet"> · before: {before}</span>}
        {facts.when !== null && <span class="quiet flame-selection-more"> · {facts.when}</span>}
        {facts.blocks !== null && <span class="quiet flame-selection-more"> · {facts.blocks} blocks</span>}
        {facts.lifetime !== null && <span class="quiet flame-selection-more"> · living {facts.lifetime}</span>}
      </span>
      <span class="grow" />
      {extend && (
        <button type="button" class="button small" onClick={extend.run} title="Enter, or a double click">
          {extend.label}
        </button>
      )}
      {name !== null && facts.key !== null && <WhyButton name={facts.key} within={facts.kind === "function"} />}
      <SourceButton at={facts.source} />
      <button type="button" class="button small plain" onClick={zoom} title="Shift+Enter, or Shift+click">
        Zoom
      </button>
      <button
        type="button"
        class="button small plain"
        aria-haspopup="menu"
        title="Focus, merge, collapse, drop (m, or a right click)"
        onClick={(event) => menu(event.currentTarget)}
      >
        More
      </button>
    </div>
  );
}
