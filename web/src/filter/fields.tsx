/** The fields of one value of a condition: words to tick, a name, a range. */
import { recording } from "../state/about.ts";
import type { ValueMode } from "../generated/responses.ts";
import type { Draft } from "./draft.ts";
import { kindOf, type Key } from "./kinds.ts";
import { NameInput } from "./NameInput.tsx";
import type { ValueFields } from "./write.ts";

const WORDS: Partial<Record<Key, readonly string[]>> = {
  heap: ["minor", "major", "external"],
  died: ["minor", "major", "external", "never"],
};

export function Words({ draft, onChange }: { draft: Draft; onChange(draft: Draft): void }) {
  const known = WORDS[draft.key] ?? (recording.value?.domains ?? []).map(String);
  // A link may name a domain that this recording does not have.
  const words = [...new Set([...known, ...draft.values.map(({ a }) => a)])];
  const has = (word: string) => draft.values.some(({ a }) => a === word);
  return (
    <div class="condition-words">
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
                  .map((a) => ({ mode: "word", a, b: "" })),
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
  keyOfCondition: Key;
  value: ValueFields;
  first: boolean;
  invalid: boolean;
  onChange(value: ValueFields): void;
}

export function NameValue({ keyOfCondition, value, first, invalid, onChange }: ValueProps) {
  return (
    <>
      <select
        class="field"
        aria-label="how names are compared"
        value={value.mode}
        onChange={(event) => onChange({ ...value, mode: event.currentTarget.value as ValueMode })}
      >
        <option value="equals">is</option>
        <option value="contains">contains</option>
        <option value="regex">matches</option>
      </select>
      <NameInput
        kind={kindOf(keyOfCondition).complete ?? "function"}
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

function modesOf(key: Key): readonly [ValueMode, string][] {
  if (key === "lifetime" || key === "size") {
    return [
      ["to", "at most"],
      ["from", "at least"],
      ["between", "between"],
      ["at", "exactly"],
    ];
  }
  const modes: [ValueMode, string][] = [
    ["between", "between"],
    ["at", "at"],
    ["to", "at or before"],
    ["from", "at or after"],
  ];
  return key === "collected" ? [...modes, ["never", "never"]] : modes;
}

const MOMENTS = ["start", "peak", "end", "10%", "50%", "90%"];

export function RangeValue({ keyOfCondition, value, first, invalid, onChange }: ValueProps) {
  const { shape } = kindOf(keyOfCondition);
  const example = shape === "sizes" ? "4K" : shape === "times" ? "250ms" : "12.5s";
  const hint =
    shape === "sizes"
      ? "bytes, or with K, M, G, T: 512, 4K, 1.5M, 2GiB"
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
        onChange={(event) => onChange({ ...value, mode: event.currentTarget.value as ValueMode })}
      >
        {modesOf(keyOfCondition).map(([mode, title]) => (
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
