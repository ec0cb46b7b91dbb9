/** Which kind of block the paths lead to. */
import { useEffect, useId, useState } from "preact/hooks";
import type { Param } from "../../state/page.ts";
import { bytes } from "../../text/units.ts";
import { Icon } from "../../widgets/Icon.tsx";
import { useHeapQuery } from "../state.ts";

const MAX_KINDS = 200;

/** Not letter by letter: browsers say so in one way or another. */
function isFromList(event: Event): boolean {
  return !(event instanceof InputEvent) || event.inputType === "insertReplacementText" || event.inputType === "";
}

export function KindField({ param }: { param: Param }) {
  const list = useId();
  const { response } = useHeapQuery({
    query: "heaphistogram",
    by: "kind",
    sort: "bytes",
    descending: true,
    offset: 0,
    limit: MAX_KINDS,
  });
  const known = (text: string): boolean => response?.rows.some(({ kind }) => kind === text) ?? false;
  const [typed, setTyped] = useState(param.value);
  useEffect(() => setTyped(param.value), [param.value]);
  return (
    <span class="kind-field">
      <label for={`${list}-field`} class="quiet">
        paths to
      </label>
      <input
        id={`${list}-field`}
        class="field small"
        type="search"
        list={list}
        placeholder="everything"
        aria-label="kind of block that the paths lead to"
        spellcheck={false}
        value={typed}
        onInput={(event) => {
          const text = event.currentTarget.value;
          setTyped(text);
          // What is selected from the list counts at once; what is typed may be the beginning of another.
          if (text === "" || (known(text) && isFromList(event))) param.set(text);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") param.set(event.currentTarget.value.trim());
        }}
        onBlur={() => {
          if (known(typed)) param.set(typed);
          else setTyped(param.value);
        }}
      />
      <datalist id={list}>
        {response?.rows.map(({ kind, bytes: size }) => (
          <option key={kind} value={kind}>
            {bytes(size)}
          </option>
        ))}
      </datalist>
      {param.value && (
        <button
          type="button"
          class="icon-button small"
          title="paths to everything"
          aria-label="paths to everything"
          onClick={() => param.set("")}
        >
          <Icon name="close" />
        </button>
      )}
    </span>
  );
}
