/** Where a block was allocated, if the allocation trace has it: the two halves of the page meet. */
import { focusForUrl } from "../../flame/keys.ts";
import { page } from "../../state/page.ts";
import { printHash } from "../../state/url.ts";
import { seconds } from "../../text/units.ts";
import type { BlockFrame, BlockResponse } from "../../generated/responses.ts";

/** Frames shown before one asks for the others. */
const FIRST = 15;

export function Allocated({ sample }: { sample: NonNullable<BlockResponse["sample"]> }) {
  const { frames, time } = sample;
  const rest = frames.slice(FIRST);
  return (
    <section aria-label="where it was allocated">
      <h3>
        Allocated <span class="quiet">at {seconds(time)}</span>
      </h3>
      <ol class="allocated">
        {frames.slice(0, FIRST).map((frame, index) => (
          <FrameLine key={index} frame={frame} />
        ))}
      </ol>
      {rest.length > 0 && (
        <details>
          <summary>{rest.length} more callers</summary>
          <ol class="allocated">
            {rest.map((frame, index) => (
              <FrameLine key={index} frame={frame} />
            ))}
          </ol>
        </details>
      )}
    </section>
  );
}

function FrameLine({ frame }: { frame: BlockFrame }) {
  const { name, key, file, line } = frame;
  return (
    <li>
      {key === null ? (
        <span class="clip">{name}</span>
      ) : (
        <a class="clip" href={inFlameGraph(key)} title={`${name}: who allocates there`}>
          {name}
        </a>
      )}
      {file && (
        <span class="quiet clip">
          {file}:{line}
        </span>
      )}
    </li>
  );
}

/** The function in the flame graph of all allocations. */
function inFlameGraph(key: string): string {
  return `#${printHash({ ...page.value, view: "flame", focus: focusForUrl([key]) })}`;
}
