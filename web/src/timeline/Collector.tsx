/** A strip below the plot: the darker, the more of the time was spent in the garbage collector. */
import type { ProcessResponse } from "../generated/responses.ts";
import { told } from "./measured.ts";
import { xOf, type Scale } from "./scale.ts";

export function Collector({ process, scale }: { process: ProcessResponse | null; scale: Scale }) {
  const collections = process?.collections;
  if (!collections) return null;
  return (
    <div class="collector" role="img" aria-label={told(collections.whole)}>
      <span class="collector-name" title={told(collections.whole)}>
        GC
      </span>
      {collections.over_time
        .filter(({ from, to }) => to > scale.from && from < scale.to)
        .map((span) => {
          const left = Math.max(0, xOf(scale, span.from));
          const width = Math.min(scale.width, xOf(scale, span.to)) - left;
          const box = { left: `${left}px`, width: `${width}px`, opacity: Math.min(1, span.share) };
          return <span key={span.from} class="collector-span" style={box} title={told(span)} />;
        })}
    </div>
  );
}
