/** Buttons that leave one kind of roots in a table. */
import { bytes } from "../../text/units.ts";

/** Kinds of next to nothing are left to the table. */
const MAX_KINDS = 12;

interface Props {
  kinds: readonly { kind: string; bytes: number; roots: number }[];
  chosen: { value: string; set(kind: string): void };
  does: "owned" | "retained";
}

export function RootKinds({ kinds, chosen, does }: Props) {
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
          aria-pressed={chosen.value === one.kind}
          title={`${bytes(one.bytes)} ${does} by ${one.roots} ${one.roots === 1 ? "root" : "roots"}`}
          onClick={() => chosen.set(chosen.value === one.kind ? "" : one.kind)}
        >
          {one.kind} <span class="quiet">{bytes(one.bytes)}</span>
        </button>
      ))}
    </div>
  );
}
