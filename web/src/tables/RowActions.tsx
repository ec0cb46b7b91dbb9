/** The line below a table: what can be done with the row under the cursor. */
import { quoteName } from "../filter/write.ts";
import { WhyButton } from "../heap/join/Buttons.tsx";
import { addCondition } from "../state/filter.ts";
import { placeOf as sourceOf } from "../source/place.ts";
import { SourceButton } from "../source/SourceButton.tsx";
import type { Row } from "./row.ts";
import { placeOf } from "./columns.ts";
import type { Line } from "./outline.ts";
import type { By } from "./rows.ts";

interface Props {
  line: Line<Row> | null;
  by: By;
  path: readonly string[] | null;
  focusOn(line: Line<Row>): void;
}

export function RowActions({ line, by, path, focusOn }: Props) {
  const row = line?.row;
  if (!line || !row) return <div class="tables-actions" />;
  // Below a module or a file stand functions.
  const key = path === null && (by === "module" || by === "file") ? by : "in";
  // A site's key is more than the function's name.
  const value = quoteName(by === "site" ? row.label : row.key);
  return (
    <div class="tables-actions">
      <strong class="clip" title={row.label}>
        {row.label}
      </strong>
      <span class="clip quiet">{placeOf(row)}</span>
      <span class="grow" />
      {path && (
        <button type="button" class="button small" title="Enter, or a double click" onClick={() => focusOn(line)}>
          Show in the flame graph
        </button>
      )}
      {(by === "function" || by === "site") && row.key !== "" && (
        <WhyButton name={row.key} within={by === "function"} />
      )}
      <SourceButton at={sourceOf(row)} />
      {row.key !== "" && <InsideButtons condition={`${key}:${value}`} />}
    </div>
  );
}

function InsideButtons({ condition }: { condition: string }) {
  return (
    <>
      <button
        type="button"
        class="button small plain"
        title="Only blocks allocated inside it"
        onClick={() => addCondition(condition)}
      >
        Only inside
      </button>
      <button
        type="button"
        class="button small plain"
        title="Without blocks allocated inside it"
        onClick={() => addCondition(`-${condition}`)}
      >
        Not inside
      </button>
    </>
  );
}
