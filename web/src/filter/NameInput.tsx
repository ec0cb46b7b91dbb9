/** A name of the recording, completed as it is typed. */
import { useEffect, useId, useState } from "preact/hooks";
import { queryOnce } from "../engine/useQuery.ts";
import { rec } from "../state/page.ts";

interface Props {
  kind: "function" | "module" | "file" | "thread" | "process";
  label: string;
  value: string;
  /** Not for regular expressions. */
  completes: boolean;
  first: boolean;
  invalid: boolean;
  onInput(text: string): void;
  /** A completion was taken: it is a whole name. */
  onPick(name: string): void;
}

/** Typing pauses that are long enough to ask in. */
const PAUSE_MS = 90;
const MAX_NAMES = 8;

export function NameInput({ kind, label, value, completes, first, invalid, onInput, onPick }: Props) {
  const list = useId();
  const [names, setNames] = useState<readonly string[]>([]);
  const [marked, setMarked] = useState(-1);
  const [typing, setTyping] = useState(false);

  useEffect(() => {
    if (!typing || !completes) {
      setNames([]);
      return undefined;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      queryOnce({ query: "complete", rec: rec.value, kind, text: value, limit: MAX_NAMES }, stop.signal).then(
        ({ values }) => {
          if (stop.signal.aborted) return;
          setNames(values.filter((name) => name !== value));
          setMarked(-1);
        },
        () => undefined,
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [value, typing, completes, kind]);

  const pick = (name: string) => {
    setTyping(false);
    setNames([]);
    onPick(name);
  };
  const open = names.length > 0;
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open) return;
    const move = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (move !== 0) {
      event.preventDefault();
      setMarked((at) => (at + move + names.length + (at < 0 && move < 0 ? 1 : 0)) % names.length);
      return;
    }
    const name = names[marked];
    if ((event.key === "Enter" || event.key === "Tab") && name !== undefined) {
      event.preventDefault();
      pick(name);
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      setTyping(false);
    }
  };
  return (
    <span class="completed">
      <input
        class="field mono grow"
        aria-label={label}
        aria-invalid={invalid}
        aria-autocomplete="list"
        aria-controls={list}
        aria-expanded={open}
        aria-activedescendant={open && marked >= 0 ? `${list}-${marked}` : undefined}
        role="combobox"
        spellcheck={false}
        autocomplete="off"
        data-first={first}
        placeholder={kind === "file" ? "list.ml" : kind === "function" ? "List.map" : ""}
        value={value}
        onInput={(event) => {
          setTyping(true);
          onInput(event.currentTarget.value);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setTyping(false)}
      />
      <ul class="completions" id={list} role="listbox" aria-label="names of the recording" hidden={!open}>
        {names.map((name, index) => (
          <li
            key={name}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === marked}
            class="mono"
            title={name}
            // Before the field loses the focus, and the list with it.
            onPointerDown={(event) => {
              event.preventDefault();
              pick(name);
            }}
          >
            {name}
          </li>
        ))}
      </ul>
    </span>
  );
}
