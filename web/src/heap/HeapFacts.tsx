/** The snapshot that is looked at, in the header. */
import { bytes, count, seconds } from "../text/units.ts";
import { Icon } from "../widgets/Icon.tsx";
import { chooseSnapshot, included, snapshot, snapshots, titleOf } from "./state.ts";

export function HeapFacts() {
  const shown = snapshot.value;
  if (!shown) return <div class="facts" />;
  const { number, reason, label, at, pause, live, live_in_heap, heap, blocks, major, damage, readable } = shown;
  const others = included.value.includes(shown) ? included.value : [...included.value, shown];
  return (
    <div class="facts" aria-label="the snapshot">
      {damage !== null && (
        <span class="warning" title={damage}>
          <Icon name="warn" /> {readable ? "damaged" : "cannot be read"}
        </span>
      )}
      <span title={`taken at: ${reason}${label === null ? "" : `, “${label}”`}`}>
        snapshot{" "}
        <select
          class="field snapshot-choice"
          aria-label="snapshot that is looked at"
          value={String(number)}
          onChange={(event) => chooseSnapshot(Number(event.currentTarget.value))}
        >
          {others.map((one) => (
            <option key={one.number} value={String(one.number)}>
              {titleOf(one)}
            </option>
          ))}
        </select>{" "}
        of {snapshots.value.length}
      </span>
      {live !== null && (
        <span title="reachable from a root: in the major heap, in the minor heaps, and the program's static data">
          <strong>{bytes(live)}</strong> alive{damage !== null && readable && ", partial"}
        </span>
      )}
      <span title="the major heap with everything in it, free space too; what of it is alive">
        <strong>{bytes(heap)}</strong> heap{live_in_heap !== null && `, ${bytes(live_in_heap)} of it alive`}
      </span>
      <span title="blocks in the heap">
        <strong>{count(blocks)}</strong> blocks
      </span>
      {at !== null && (
        <span
          title={`${major === null ? "" : `after ${major} major collections; `}the program paused for ${pause > 0 ? seconds(pause) : "an unknown time"}`}
        >
          at <strong>{seconds(at)}</strong>
        </span>
      )}
    </div>
  );
}
