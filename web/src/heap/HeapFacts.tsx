/** The snapshot that is looked at, in the header. */
import { bytes, count, seconds } from "../text/units.ts";
import { snapshot, snapshots } from "./state.ts";

export function HeapFacts() {
  const shown = snapshot.value;
  if (!shown) return <div class="facts" />;
  const { number, reason, at, pause, live, heap, blocks, major } = shown;
  return (
    <div class="facts" aria-label="the snapshot">
      <span title={`taken at: ${reason}`}>
        snapshot <strong>{number}</strong> of {snapshots.value.length}
      </span>
      {live !== null && (
        <span title="reachable from a root">
          <strong>{bytes(live)}</strong> alive
        </span>
      )}
      <span title="the heap with everything in it">
        <strong>{bytes(heap)}</strong> heap
      </span>
      <span title="blocks in the heap">
        <strong>{count(blocks)}</strong> blocks
      </span>
      {at !== null && (
        <span title={`after ${major} major collections; the program stood still for ${seconds(pause)}`}>
          at <strong>{seconds(at)}</strong>
        </span>
      )}
    </div>
  );
}
