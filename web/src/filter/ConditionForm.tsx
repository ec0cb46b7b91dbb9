/** The form of one condition: whether it must hold, and the values of which any will do. */
import { useRef, useState } from "preact/hooks";
import { useFirstFocus } from "../widgets/focus.ts";
import { Icon } from "../widgets/Icon.tsx";
import { Segmented } from "../widgets/Segmented.tsx";
import { checkOf, whenChecked } from "./checks.ts";
import { emptyLike, textOfDraft, valueAt, type Draft } from "./draft.ts";
import { NameValue, RangeValue, Words } from "./fields.tsx";
import { kindOf, transformsPaths } from "./kinds.ts";
import type { ValueFields } from "./write.ts";

interface Props {
  draft: Draft;
  /** What the main button says. */
  action: string;
  /** The engine's objection to the condition as it was. */
  objection?: string | undefined;
  onDone(condition: string): void;
  onCancel(): void;
}

export function ConditionForm({ draft: begin, action, objection, onDone, onCancel }: Props) {
  const [draft, setDraft] = useState(begin);
  const root = useRef<HTMLFormElement>(null);
  useFirstFocus(root);
  const kind = kindOf(draft.key);
  const text = textOfDraft(draft);
  const check = text === null ? null : checkOf(text);
  // Until the engine has said what is typed, what it said of the text before stays.
  const last = useRef(check);
  if (check || text === null) last.current = check;
  const said = last.current;
  const error = said && "error" in said ? said.error : null;
  const wrongValue = error && text !== null ? valueAt(draft, error.at) : null;
  const submit = async () => {
    const checked = text === null ? null : await whenChecked(text);
    if (checked && "canonical" in checked) onDone(checked.canonical);
  };
  const change = (index: number, value: ValueFields) =>
    setDraft({ ...draft, values: draft.values.map((old, at) => (at === index ? value : old)) });
  const { shape } = kind;
  return (
    <form
      class="condition-form"
      ref={root}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <div class="condition-form-head">
        <h2 class="grow">{kind.title}</h2>
        {!transformsPaths(draft.key) && (
          <Segmented
            label="whether it must hold"
            options={[
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
            <div class="condition-value" key={index}>
              <span class="or faint">{index > 0 ? "or" : ""}</span>
              {shape === "names" ? (
                <NameValue
                  keyOfCondition={draft.key}
                  value={value}
                  first={index === 0}
                  invalid={wrongValue === index}
                  onChange={(next) => change(index, next)}
                />
              ) : (
                <RangeValue
                  keyOfCondition={draft.key}
                  value={value}
                  first={index === 0}
                  invalid={wrongValue === index}
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
      <p class={`condition-preview ${error ? "wrong" : ""}`} aria-live="polite">
        {error?.message}
        {said && "canonical" in said && (
          <>
            {said.description}
            <code class="faint">{said.canonical}</code>
          </>
        )}
      </p>
      {objection && <p class="wrong">{objection}</p>}
      <div class="condition-form-foot">
        <button type="button" class="button plain" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" class="button main" disabled={!said || error !== null}>
          {action}
        </button>
      </div>
    </form>
  );
}
