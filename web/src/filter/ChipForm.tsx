/** The form of one chip: whether it must hold, and the values of which any will do. */
import { useRef, useState } from "preact/hooks";
import { recording } from "../state/about.ts";
import { useFirstFocus } from "../widgets/focus.ts";
import { Icon } from "../widgets/Icon.tsx";
import { Segmented } from "../widgets/Segmented.tsx";
import { chipOfDraft, emptyLike, shapeOf, type Draft, type DraftValue, type Mode } from "./draft.ts";
import type { Chip, Key } from "./chip.ts";
import { kindOf } from "./kinds.ts";
import { NameInput } from "./NameInput.tsx";
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

const WORDS: Partial<Record<Key, readonly string[]>> = {
  heap: ["minor", "major", "external"],
  died: ["minor", "major", "external", "never"],
};

function Words({ draft, onChange }: { draft: Draft; onChange(draft: Draft): void }) {
  const known = WORDS[draft.key] ?? (recording.value?.domains ?? []).map(String);
  // A link may name a domain that this recording does not have.
  const words = [...new Set([...known, ...draft.values.map(({ a }) => a)])];
  const has = (word: string) => draft.values.some(({ a }) => a === word);
  return (
    <div class="chip-words">
      {words.map((word, index) => (
        <label key={word}>
          <input
            type="checkbox"
            data-first={index === 0}
            checked={has(word)}
            onChange={() =>
              onChange({
                ...draft,
                values: words
                  .filter((other) => (other === word ? !has(word) : has(other)))
                  .map((a) => ({ mode: "set", a, b: "" })),
              })
            }
          />
          {word === "never" ? "never collected" : word}
        </label>
      ))}
    </div>
  );
}

interface ValueProps {
  keyOfChip: Key;
  value: DraftValue;
  first: boolean;
  invalid: boolean;
  onChange(value: DraftValue): void;
}

function NameValue({ keyOfChip, value, first, invalid, onChange }: ValueProps) {
  return (
    <>
      <select
        class="field"
        aria-label="how names are compared"
        value={value.mode}
        onChange={(event) => onChange({ ...value, mode: event.currentTarget.value as Mode })}
      >
        <option value="equals">is</option>
        <option value="contains">contains</option>
        <option value="regex">matches</option>
      </select>
      <NameInput
        kind={kindOf(keyOfChip).complete ?? "function"}
        label={value.mode === "regex" ? "regular expression" : "name"}
        value={value.a}
        completes={value.mode !== "regex"}
        first={first}
        invalid={invalid}
        onInput={(a) => onChange({ ...value, a })}
        onPick={(a) => onChange({ ...value, mode: "equals", a })}
      />
    </>
  );
}

function modesOf(key: Key): readonly [Mode, string][] {
  if (key === "lifetime" || key === "size") {
    return [
      ["to", "at most"],
      ["from", "at least"],
      ["between", "between"],
      ["at", "exactly"],
    ];
  }
  const modes: [Mode, string][] = [
    ["between", "between"],
    ["at", "at"],
    ["to", "at or before"],
    ["from", "at or after"],
  ];
  return key === "collected" ? [...modes, ["never", "never"]] : modes;
}

const MOMENTS = ["start", "peak", "end", "10%", "50%", "90%"];

function RangeValue({ keyOfChip, value, first, invalid, onChange }: ValueProps) {
  const shape = shapeOf(keyOfChip);
  const example = shape === "sizes" ? "4K" : shape === "times" ? "250ms" : "12.5s";
  const hint =
    shape === "sizes"
      ? "bytes, or with K, M, G: 512, 4K, 1.5M"
      : `12.5s, 1m30s, 2h, 250ms${shape === "moments" ? ", 40%, start, peak, end" : ""}`;
  const field = (name: "a" | "b", label: string) => (
    <input
      class="field"
      size={9}
      aria-label={label}
      aria-invalid={invalid}
      placeholder={example}
      title={hint}
      list={shape === "moments" ? "moments" : undefined}
      data-first={first && name === "a"}
      spellcheck={false}
      autocomplete="off"
      value={value[name]}
      onInput={(event) => onChange({ ...value, [name]: event.currentTarget.value })}
    />
  );
  return (
    <>
      <select
        class="field"
        aria-label="how it is compared"
        value={value.mode}
        onChange={(event) => onChange({ ...value, mode: event.currentTarget.value as Mode })}
      >
        {modesOf(keyOfChip).map(([mode, title]) => (
          <option key={mode} value={mode}>
            {title}
          </option>
        ))}
      </select>
      {value.mode !== "never" && field("a", value.mode === "between" ? "from" : "value")}
      {value.mode === "between" && <span class="faint">and</span>}
      {value.mode === "between" && field("b", "to")}
      <span class="grow" />
      {shape === "moments" && (
        <datalist id="moments">
          {MOMENTS.map((moment) => (
            <option key={moment} value={moment} />
          ))}
        </datalist>
      )}
    </>
  );
}
