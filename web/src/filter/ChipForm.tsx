/** The form of one chip: whether it must hold, and the values of which any will do. */
import { useRef, useState } from "preact/hooks";
import { useFirstFocus } from "../widgets/focus.ts";
import { Icon } from "../widgets/Icon.tsx";
import { Segmented } from "../widgets/Segmented.tsx";
import { chipOfDraft, emptyLike, shapeOf, type Draft, type DraftValue } from "./draft.ts";
import type { Chip } from "./chip.ts";
import { NameValue, RangeValue, Words } from "./fields.tsx";
import { kindOf } from "./kinds.ts";
import { printChip } from "./print.ts";
import { sentence } from "./sentence.ts";

interface Props {
  draft: Draft;
  /** What the main button says. */
  action: string;
  /** The engine's objection to the chip as it was. */
  objection?: string | undefined;
  onDone(chip: string): void;
  onCancel(): void;
}

export function ChipForm({ draft: begin, action, objection, onDone, onCancel }: Props) {
  const [draft, setDraft] = useState(begin);
  const root = useRef<HTMLFormElement>(null);
  useFirstFocus(root);
  const kind = kindOf(draft.key);
  const result = chipOfDraft(draft);
  const chip: Chip | null = "key" in result ? result : null;
  const trouble = "key" in result ? null : result;
  const change = (index: number, value: DraftValue) =>
    setDraft({ ...draft, values: draft.values.map((old, at) => (at === index ? value : old)) });
  const shape = shapeOf(draft.key);
  return (
    <form
      class="chip-form"
      ref={root}
      onSubmit={(event) => {
        event.preventDefault();
        if (chip) onDone(printChip(chip));
      }}
    >
      <div class="chip-form-head">
        <h2 class="grow">{kind.title}</h2>
        {draft.key !== "hide" && (
          <Segmented
            label="whether it must hold"
            choices={[
              { id: "", title: "only these" },
              { id: "not", title: "all but these" },
            ]}
            value={draft.not ? "not" : ""}
            onChoose={(id) => setDraft({ ...draft, not: id === "not" })}
          />
        )}
      </div>
      {shape === "words" ? (
        <Words draft={draft} onChange={setDraft} />
      ) : (
        <>
          {draft.values.map((value, index) => (
            <div class="chip-value" key={index}>
              <span class="or faint">{index > 0 ? "or" : ""}</span>
              {shape === "names" ? (
                <NameValue
                  keyOfChip={draft.key}
                  value={value}
                  first={index === 0}
                  invalid={trouble?.index === index && trouble.why !== null}
                  onChange={(next) => change(index, next)}
                />
              ) : (
                <RangeValue
                  keyOfChip={draft.key}
                  value={value}
                  first={index === 0}
                  invalid={trouble?.index === index && trouble.why !== null}
                  onChange={(next) => change(index, next)}
                />
              )}
              <button
                type="button"
                class="icon-button small"
                aria-label="remove this value"
                title="remove this value"
                disabled={draft.values.length === 1}
                onClick={() => setDraft({ ...draft, values: draft.values.filter((_, at) => at !== index) })}
              >
                <Icon name="close" />
              </button>
            </div>
          ))}
          <button
            type="button"
            class="button plain small"
            onClick={() => {
              const last = draft.values.at(-1);
              if (last) setDraft({ ...draft, values: [...draft.values, emptyLike(last)] });
            }}
          >
            <Icon name="plus" /> or …
          </button>
        </>
      )}
      <p class={`chip-preview ${trouble?.why ? "wrong" : ""}`} aria-live="polite">
        {trouble ? (trouble.why ?? "") : chip && sentence(chip)}
        {chip && <code class="faint">{printChip(chip)}</code>}
      </p>
      {objection && <p class="wrong">{objection}</p>}
      <div class="chip-form-foot">
        <button type="button" class="button plain" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" class="button main" disabled={!chip}>
          {action}
        </button>
      </div>
    </form>
  );
}
