/** Selects one of some snapshots. */
import type { SnapshotRow } from "../../generated/responses.ts";
import { titleOf } from "../state.ts";

interface Props {
  label: string;
  from: readonly SnapshotRow[];
  value: SnapshotRow;
  onChoose(number: number): void;
}

export function SnapshotSelect({ label, from, value, onChoose }: Props) {
  return (
    <select
      class="field small"
      aria-label={`snapshot ${label}`}
      value={String(value.number)}
      onChange={(event) => onChoose(Number(event.currentTarget.value))}
    >
      {from.map((one) => (
        <option key={one.number} value={String(one.number)}>
          {titleOf(one)}
        </option>
      ))}
    </select>
  );
}
