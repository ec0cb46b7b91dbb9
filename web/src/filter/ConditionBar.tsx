/** The filter as a sentence of conditions, and the ready-made ones. */
import "./conditions.css";
import { Baseline } from "../compare/Baseline.tsx";
import type { EngineError } from "../engine/slab.ts";
import { useKeys } from "../shell/keys.ts";
import { removeCondition, replaceCondition } from "../state/filter.ts";
import { filter, go, view } from "../state/page.ts";
import { filterError } from "../state/sums.ts";
import { Icon } from "../widgets/Icon.tsx";
import { Popover } from "../widgets/Popover.tsx";
import { AddFilter, addOpen } from "./AddFilter.tsx";
import { checkOf } from "./checks.ts";
import { ConditionForm } from "./ConditionForm.tsx";
import { draftOf } from "./draft.ts";
import { Presets } from "./Presets.tsx";

export function ConditionBar() {
  const conditions = filter.value;
  useKeys("Filter", [
    { keys: "f", does: "add a condition", run: () => (addOpen.value = true) },
    { keys: "r", does: "remove all conditions", run: () => go({ filter: [] }) },
  ]);
  const objection = filterError.value;
  return (
    <section class="conditions" aria-label="filter">
      <div class="condition-list">
        <span class="quiet">{conditions.length === 0 ? "Showing all memory" : "Showing memory"}</span>
        {conditions.length > 0 && (
          <ul role="list" aria-label="Filters">
            {conditions.map((condition, index) => (
              <Condition
                key={`${index} ${condition}`}
                text={condition}
                index={index}
                objection={objection?.condition === index ? objection : null}
              />
            ))}
          </ul>
        )}
        <AddFilter />
        {conditions.length > 0 && (
          <button
            type="button"
            class="button plain small"
            title="remove all conditions (r)"
            onClick={() => go({ filter: [] })}
          >
            Clear
          </button>
        )}
      </div>
      <span class="grow" />
      {view.value !== "compare" && <Baseline />}
      <Presets />
      {objection && (
        <p class="objection" role="alert">
          <Icon name="warn" /> {objection.message}
          {objection.hint && <span class="quiet">{objection.hint}</span>}
        </p>
      )}
    </section>
  );
}

interface ConditionProps {
  text: string;
  index: number;
  objection: EngineError | null;
}

function Condition({ text, index, objection }: ConditionProps) {
  const check = checkOf(text);
  const refused = check && "error" in check ? check.error.message : null;
  const valid = check && "condition" in check ? check : null;
  const wrong = refused ?? objection?.message;
  const words = valid?.description ?? text;
  return (
    <li>
      <span class={`condition ${wrong ? "wrong" : ""}`}>
        {!valid ? (
          <span class="condition-text mono" title={wrong}>
            {refused !== null && <Icon name="warn" />} {words}
          </span>
        ) : (
          <Popover
            class="condition-text"
            title={`${wrong ?? "change"}: ${text}`}
            aria-label={`change: ${words}`}
            label={<span class="clip">{words}</span>}
          >
            {(close) => (
              <ConditionForm
                draft={draftOf(valid.condition)}
                action="Change"
                objection={objection?.message}
                onDone={(next) => {
                  replaceCondition(index, next);
                  close();
                }}
                onCancel={close}
              />
            )}
          </Popover>
        )}
        <button
          type="button"
          class="condition-close"
          aria-label={`remove: ${words}`}
          title="remove"
          onClick={() => removeCondition(index)}
        >
          <Icon name="close" />
        </button>
      </span>
    </li>
  );
}
