/** What is damaged of the snapshots that are looked at: their figures are of a part of them. */
import { page } from "../state/page.ts";
import { base, snapshot } from "./state.ts";

export function Partial() {
  const compared = page.value.view === "changes" ? [base.value] : [];
  const damaged = [snapshot.value, ...compared].filter((one) => one && one.damage !== null);
  return (
    <>
      {damaged.map((one) => (
        <p key={one!.number} class="partial" role="status">
          {one!.readable
            ? `snapshot ${one!.number} is damaged (${one!.damage}): all figures of it are partial, of what is before the damage`
            : `snapshot ${one!.number}: ${one!.damage}`}
        </p>
      ))}
    </>
  );
}
