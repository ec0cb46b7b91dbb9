/** Buttons that leave one kind of roots in a table. */
import { bytes } from "../../text/units.ts";

/** Kinds of next to nothing are left to the table. */
const MAX_KINDS = 12;

interface Props {
  kinds: readonly { kind: string; bytes: number; roots: number }[];
  selected: { value: string; set(kind: string): void };
  does: "owned" | "retained";
}

export function RootKinds({ kinds, selected, does }: Props) {
  const shown = kinds
    .filter(({ bytes }) => bytes > 0)
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, MAX_KINDS);
  return (
    <div class="conditions-row" role="group" aria-label="kinds of roots">
      {shown.map((one) => (
        <button
          key={one.kind}
          type="button"
          class="kind-condition"
          aria-pressed={selected.value === one.kind}
          title={`${bytes(one.bytes)} ${does} by ${one.roots} ${one.roots === 1 ? "root" : "roots"}`}
          onClick={() => selected.set(selected.value === one.kind ? "" : one.kind)}
        >
          {one.kind} <span class="quiet">{bytes(one.bytes)}</span>
        </button>
      ))}
    </div>
  );
}
