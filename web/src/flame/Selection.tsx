/** The line below the flame graph: what is selected, and what can be done with it. */
import type { ComponentChildren } from "preact";
import { quoteName } from "../filter/print.ts";
import { WhyButton } from "../heap/join/Buttons.tsx";
import { addCondition } from "../state/filter.ts";
import { copyText } from "../widgets/notice.ts";
import { Popover } from "../widgets/Popover.tsx";
import type { Facts } from "./facts.ts";

interface Props {
  facts: Facts | null;
  /** Names the callees, the callers or the focus: what "extend" means. */
  extend: { label: string; run(): void } | null;
  alone: (() => void) | null;
  zoom(): void;
}

export function Selection({ facts, extend, alone, zoom }: Props) {
  if (!facts) {
    return (
      <div class="flame-selection quiet">
        <span class="clip">
          Click selects, double click takes into the focus, Shift+click zooms, Ctrl+wheel zooms too.
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
      <button type="button" class="button small plain" onClick={zoom} title="Shift+Enter, or Shift+click">
        Zoom
      </button>
      <Popover label="More" title="More for the selected function" class="button small plain" align="end">
        {(close) => (
          <>
            {alone && (
              <Item
                run={() => {
                  close();
                  alone();
                }}
              >
                Focus on it alone
              </Item>
            )}
            {name !== null && (
              <>
                <Condition condition={`in:${quoteName(name)}`} close={close}>
                  Only blocks allocated inside it
                </Condition>
                <Condition condition={`-in:${quoteName(name)}`} close={close}>
                  Without blocks allocated inside it
                </Condition>
                {facts.module && (
                  <Condition condition={`module:${quoteName(facts.module)}`} close={close}>
                    Only blocks allocated inside its module
                  </Condition>
                )}
                {facts.kind === "function" && (
                  <Condition condition={`hide:${quoteName(name)}`} close={close}>
                    Hide it from call paths
                  </Condition>
                )}
              </>
            )}
            <Item
              run={() => {
                close();
                void copyText([facts.name, facts.place].filter(Boolean).join(" "), "name");
              }}
            >
              Copy its name
            </Item>
          </>
        )}
      </Popover>
    </div>
  );
}

function Item({ run, children }: { run(): void; children: ComponentChildren }) {
  return (
    <button type="button" class="menu-item" onClick={run}>
      {children}
    </button>
  );
}

function Condition({ condition, close, children }: { condition: string; close(): void; children: ComponentChildren }) {
  return (
    <Item
      run={() => {
        close();
        addCondition(condition);
      }}
    >
      {children}
    </Item>
  );
}
