/** The filter as a sentence of chips, and the ready-made ones. */
import "./chips.css";
import type { EngineError } from "../engine/slab.ts";
import { useKeys } from "../shell/keys.ts";
import { removeChip, replaceChip } from "../state/filter.ts";
import { filter, go } from "../state/page.ts";
import { refusal } from "../state/sums.ts";
import { Icon } from "../widgets/Icon.tsx";
import { Popover } from "../widgets/Popover.tsx";
import { AddFilter, addOpen } from "./AddFilter.tsx";
import { ChipError } from "./chip.ts";
import { ChipForm } from "./ChipForm.tsx";
import { draftOf } from "./draft.ts";
import { tryChip } from "./parse.ts";
import { Presets } from "./Presets.tsx";
import { sentence } from "./sentence.ts";

export function ChipBar() {
  const chips = filter.value;
  useKeys("Filter", [
    { keys: "f", does: "add a condition", run: () => (addOpen.value = true) },
    { keys: "r", does: "remove all conditions", run: () => go({ filter: [] }) },
  ]);
  const objection = refusal.value;
  return (
    <section class="chips" aria-label="filter">
      <div class="sentence">
        <span class="quiet">{chips.length === 0 ? "Showing all memory" : "Showing memory"}</span>
        {chips.length > 0 && (
          <ul role="list" aria-label="Filters">
            {chips.map((chip, index) => (
              <Chip
                key={`${index} ${chip}`}
                text={chip}
                index={index}
                objection={objection?.chip === index ? objection : null}
              />
            ))}
          </ul>
        )}
        <AddFilter />
        {chips.length > 0 && (
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

interface ChipProps {
  text: string;
  index: number;
  objection: EngineError | null;
}

function Chip({ text, index, objection }: ChipProps) {
  const chip = tryChip(text);
  const wrong = chip instanceof ChipError ? chip.message : objection?.message;
  const words = chip instanceof ChipError ? text : sentence(chip);
  return (
    <li>
      <span class={`chip ${wrong ? "wrong" : ""}`}>
        {chip instanceof ChipError ? (
          <span class="chip-text mono" title={wrong}>
            <Icon name="warn" /> {words}
          </span>
        ) : (
          <Popover class="chip-text" title={`${wrong ?? "change"}: ${text}`} aria-label={`change: ${words}`} label={<span class="clip">{words}</span>}>
            {(close) => (
              <ChipForm
                draft={draftOf(chip)}
                action="Change"
                objection={objection?.message}
                onDone={(next) => {
                  replaceChip(index, next);
                  close();
                }}
                onCancel={close}
              />
            )}
          </Popover>
        )}
        <button
          type="button"
          class="chip-close"
          aria-label={`remove: ${words}`}
          title="remove"
          onClick={() => removeChip(index)}
        >
          <Icon name="close" />
        </button>
      </span>
    </li>
  );
}
