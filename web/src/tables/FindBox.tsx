/** Where a part of a name is typed; rows are asked for when the typing rests. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";
import type { Param } from "../state/page.ts";

const REST_MS = 200;

export function FindBox({ field, find }: { field: RefObject<HTMLInputElement | null>; find: Param }) {
  const [typed, setTyped] = useState(find.value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setTyped(find.value), [find.value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <input
      ref={field}
      class="field small"
      type="search"
      placeholder="Find"
      aria-label="Find rows by a part of their name"
      title="Part of a name (key: /)"
      spellcheck={false}
      value={typed}
      onInput={(event) => {
        const text = event.currentTarget.value;
        setTyped(text);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => find.set(text, "replace"), REST_MS);
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        find.set("", "replace");
        event.currentTarget.blur();
      }}
    />
  );
}
