/** Blocks that refer to a block, or that it refers to; each is a link. */
import { bytes, grouped } from "../../text/units.ts";
import type { Listed, ReferenceRow, ReferrerRow } from "../../generated/responses.ts";
import { blockHref, nodeHref } from "../state.ts";

type Reference = ReferenceRow | ReferrerRow;

interface Props {
  title: string;
  list: Listed<Reference>;
  /** What the number of a field means. */
  fields: "field" | "through";
  nothing: string;
}

/** Rows shown before one asks for the others. */
const FIRST = 12;

export function References({ title, list, fields, nothing }: Props) {
  const { rows, count } = list;
  const rest = rows.slice(FIRST);
  return (
    <section aria-label={title.toLowerCase()}>
      <h3>
        {title} {count > 0 && <span class="quiet">{grouped(count)}</span>}
      </h3>
      {rows.length === 0 && <p class="quiet">{nothing}</p>}
      <Rows rows={rows.slice(0, FIRST)} fields={fields} />
      {rest.length > 0 && (
        <details>
          <summary>{grouped(rest.length)} more</summary>
          <Rows rows={rest} fields={fields} />
        </details>
      )}
      {count > rows.length && <p class="quiet">and {grouped(count - rows.length)} that are not listed</p>}
    </section>
  );
}

function Rows({ rows, fields }: { rows: readonly Reference[]; fields: "field" | "through" }) {
  if (rows.length === 0) return null;
  return (
    <table class="block-table">
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            <td class="number quiet field-cell">
              {row.field !== null && `${fields === "through" ? "its field" : "field"} ${row.field}`}
            </td>
            <td class="wide-cell">
              <a class="clip" href={hrefOf(row)} title={nameOf(row)}>
                {nameOf(row)}
              </a>
              {row.weak && <span class="quiet"> weak: does not retain it</span>}
            </td>
            <td class="number">{bytes(row.retained)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function nameOf(row: Reference): string {
  return "name" in row ? row.name : row.kind;
}

function hrefOf(row: Reference): string {
  return "node" in row && row.block === null ? nodeHref(row.node) : blockHref(row.block!);
}
