/** What the filter leaves, of the whole. */
import type { OverviewResponse, Sums } from "../generated/responses.ts";
import { selectedBaseline } from "../compare/sides.ts";
import { useQuery } from "../engine/useQuery.ts";
import { filter } from "../state/page.ts";
import { selectedSums } from "../state/sums.ts";
import {
  estimatedBytes as bytes,
  estimatedBytesWithError as bytesWithError,
  estimatedCount as count,
} from "../state/estimates.ts";
import { percent, ratio, seconds } from "../text/units.ts";

export function Totals() {
  const sums = selectedSums.value;
  const baseline = selectedBaseline();
  // The sums alone: no curve is drawn of it.
  const { response } = useQuery(baseline && { query: "overview", ...baseline, points: 1 });
  if (!sums) return null;
  const was = (of: (sums: Sums) => string) =>
    baseline && response ? <span class="quiet"> · before: {of(response.selected)}</span> : null;
  const { total, selected }: OverviewResponse = sums;
  const filtered = filter.value.length > 0;
  const part = (of: (sums: Sums) => number) =>
    filtered ? <span class="quiet"> {percent(ratio(of(selected), of(total)))}</span> : null;
  return (
    <dl class="totals" aria-label="what the filter leaves">
      <div title="estimated from the samples, with its standard error">
        <dt>allocated</dt>
        <dd>
          {bytesWithError(selected.allocated.value, selected.allocated.stderr)}
          {part(({ allocated }) => allocated.value)}
          {was(({ allocated }) => bytes(allocated.value))}
        </dd>
      </div>
      <div class="wide" title="estimated number of blocks">
        <dt>blocks</dt>
        <dd>{count(selected.blocks.value)}</dd>
      </div>
      <div title="the most of it that was live at once">
        <dt>peak</dt>
        <dd>
          {bytes(selected.peak.bytes)}
          {was(({ peak }) => bytes(peak.bytes))}
        </dd>
      </div>
      <div title="still live at the end">
        <dt>at end</dt>
        <dd>
          {bytes(selected.live_end)}
          {part(({ live_end }) => live_end)}
          {was(({ live_end }) => bytes(live_end))}
        </dd>
      </div>
      {selected.lifetime !== null && (
        <div class="wide" title="mean lifetime; what was never collected counts up to the end">
          <dt>lifetime</dt>
          <dd>{seconds(selected.lifetime)}</dd>
        </div>
      )}
    </dl>
  );
}
