/** Where a part of a name is typed. */
import type { RefObject } from "preact";
import type { Param } from "../state/page.ts";
import { TypedField } from "../widgets/TypedField.tsx";

export function FindBox({ field, find }: { field: RefObject<HTMLInputElement | null>; find: Param }) {
  return (
    <TypedField
      text={find}
      field={field}
      class="field small"
      placeholder="Find"
      aria-label="Find rows by a part of their name"
      title="Part of a name (key: /)"
    />
  );
}
