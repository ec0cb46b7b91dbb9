/** When the blocks were allocated that are alive: growth is steady, a cache was filled at once. */
import type { AliveEstimate } from "../../generated/responses.ts";
import { seconds } from "../../text/units.ts";

export function Age({ alive: { allocated } }: { alive: AliveEstimate }) {
  if (!allocated) return null;
  const [first, middle, last] = allocated.map(seconds);
  return (
    <span class="quiet clip" title="moments of allocation, from the start of the recording">
      a tenth allocated by {first}, half by {middle}, nine tenths by {last}
    </span>
  );
}
