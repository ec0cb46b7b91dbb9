/** Finds functions in the flame graph: marks them, and says how much they are in sum. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useQuery, type QueryState } from "../engine/useQuery.ts";
import type { SearchResponse } from "../generated/responses.ts";
import { filter, param, rec } from "../state/page.ts";
import { estimatedBytes as bytes } from "../state/estimates.ts";
import { percent } from "../text/units.ts";
import { Icon } from "../widgets/Icon.tsx";
import { recursionOf } from "./trees.ts";

const searched = param("q", "");
const REST_MS = 200;

export interface Found {
  state: QueryState<SearchResponse>;
  /** Functions and sites that match, or null where nothing is searched for. */
  entities: ReadonlySet<number> | null;
}

/** The response to what is in the search box. `/text/` is a regular expression, as in filters. */
export function useSearch(focus: readonly string[]): Found {
  const text = searched.value;
  const regex = text.length > 2 && text.startsWith("/") && text.endsWith("/");
  const state = useQuery(
    text
      ? {
          query: "search",
          rec: rec.value,
          filter: filter.value,
          text: regex ? text.slice(1, -1) : text,
          regex,
          focus,
          recursion: recursionOf(),
        }
      : null,
  );
  const response = text ? state.response : null;
  const entities = useMemo(() => (response ? new Set(response.columns.u32("entities")) : null), [response]);
  return { state, entities };
}

interface Props {
  found: Found;
  /** Lets a key bring the cursor here. */
  field: { current: HTMLInputElement | null };
  /** How many boxes match, and which of them is selected; -1 if none. */
  boxes: { at: number; of: number };
  /** Selects the next or the previous box that matches. */
  next(step: 1 | -1): void;
}

export function SearchBox({ found, field, boxes, next }: Props) {
  const [typed, setTyped] = useState(searched.value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setTyped(searched.value), [searched.value]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const search = (text: string, now: boolean): void => {
    setTyped(text);
    clearTimeout(timer.current);
    if (now) searched.set(text, "replace");
    else timer.current = setTimeout(() => searched.set(text, "replace"), REST_MS);
  };
  const { state } = found;
  return (
    <div class="flame-search">
      <span class="flame-search-field">
        <Icon name="search" />
        <input
          ref={field}
          class="field small"
          type="search"
          placeholder="Search"
          aria-label="Search functions; /…/ is a regular expression"
          title="Part of a name, or /a regular expression/ (key: /)"
          spellcheck={false}
          value={typed}
          aria-invalid={state.error ? true : undefined}
          onInput={(event) => search(event.currentTarget.value, false)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && event.currentTarget.value === searched.value) next(event.shiftKey ? -1 : 1);
            else if (event.key === "Enter") search(event.currentTarget.value, true);
            if (event.key === "Escape") {
              event.preventDefault();
              event.stopPropagation();
              search("", true);
              event.currentTarget.blur();
            }
          }}
        />
      </span>
      {searched.value && (
        <span class="flame-found clip" role="status">
          {result(state, boxes)}
        </span>
      )}
      {boxes.of > 0 && (
        <>
          <button
            type="button"
            class="icon-button small"
            title="previous match (N)"
            aria-label="previous match"
            onClick={() => next(-1)}
          >
            ‹
          </button>
          <button
            type="button"
            class="icon-button small"
            title="next match (n)"
            aria-label="next match"
            onClick={() => next(1)}
          >
            ›
          </button>
        </>
      )}
    </div>
  );
}

function result({ response, error }: QueryState<SearchResponse>, { at, of }: Props["boxes"]): string {
  if (error) return error.message;
  if (!response) return "";
  const matching = response.columns.u32("entities").length;
  if (matching === 0) return "no match";
  const which =
    of === 0 ? "no box is wide enough" : at < 0 ? (of === 1 ? "1 box" : `${of} boxes`) : `${at + 1} of ${of}`;
  return `${which}: ${bytes(response.bytes)}, ${percent(response.share)}`;
}
