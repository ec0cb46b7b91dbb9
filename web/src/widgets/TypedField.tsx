/** A field for a text in the address: it counts when the typing rests, or with Enter. Esc empties it. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Param } from "../state/page.ts";

interface Props {
  text: Param;
  class: string;
  placeholder: string;
  title: string;
  "aria-label": string;
  /** Counts with Enter or when the field is left, as a step of its own; else when the typing rests. */
  waits?: boolean;
  field?: RefObject<HTMLInputElement | null>;
}

const REST_MS = 200;

export function TypedField({ text, waits = false, field, ...rest }: Props) {
  const [typed, setTyped] = useState(text.value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setTyped(text.value), [text.value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const set = (value: string): void => text.set(value.trim(), waits ? "push" : "replace");
  return (
    <input
      {...rest}
      ref={field}
      type="search"
      spellcheck={false}
      value={typed}
      onInput={({ currentTarget: { value } }) => {
        setTyped(value);
        clearTimeout(timer.current);
        if (!waits) timer.current = setTimeout(() => text.set(value, "replace"), REST_MS);
        else if (value === "") text.set("");
      }}
      onBlur={waits ? ({ currentTarget: { value } }) => set(value) : undefined}
      onKeyDown={(event) => {
        if (waits && event.key === "Enter") set(event.currentTarget.value);
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        clearTimeout(timer.current);
        event.currentTarget.value = "";
        setTyped("");
        set("");
        event.currentTarget.blur();
      }}
    />
  );
}
