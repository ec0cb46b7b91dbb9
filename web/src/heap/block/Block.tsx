/** A block's page: its retaining path, what it refers to, what refers to it, where it was allocated. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "../../shell/keys.ts";
import type { View } from "../../shell/registry.ts";
import { param } from "../../state/page.ts";
import { bytes, count, grouped, ratio } from "../../text/units.ts";
import { Segmented } from "../../widgets/Segmented.tsx";
import { Empty, ErrorMessage } from "../../widgets/State.tsx";
import type { BlockResponse, ChildRow } from "../../generated/responses.ts";
import { blockHref, dominatorHref, nodeHref, openBlock, openNode, useHeapQuery } from "../state.ts";
import { WhoBelowButton } from "../join/Buttons.tsx";
import { showWhoBelow } from "../join/links.ts";
import { allocatedBy } from "../allocatedBy.ts";
import { Allocated } from "./Allocated.tsx";
import { References } from "./References.tsx";
import { RetainingPath } from "./RetainingPath.tsx";

const block = param("block", "");
const shown = param("paths", "one");
const unfolded = param("unfolded", "");
const MAX_PATHS = 20;

const SHOWN = [
  { id: "one", title: "One path", what: "the shortest; what every path leads through stands out" },
  { id: "all", title: "Separate paths", what: "all that share no block but this one" },
];

function BlockPage() {
  const number = /^\d+$/.test(block.value) ? Number(block.value) : null;
  const { response, error, late } = useHeapQuery(number === null ? null : { query: "heapblock", block: number });
  const go = useRef<HTMLInputElement>(null);
  useKeys("Block", [
    { keys: "/", does: "go to a block by its number", run: () => go.current?.select() },
    { keys: "w", does: "who allocated what it retains", run: () => response && showWhoBelow(response.node) },
    { keys: "u", does: "up: what retains it", run: () => response?.dominator && openNode(response.dominator.node) },
  ]);
  const heading = useRef<HTMLHeadingElement>(null);
  // A block that was followed to is read from its beginning.
  useEffect(() => heading.current?.closest(".view")?.scrollTo(0, 0), [response?.block]);
  return (
    <div class={late ? "block-page late" : "block-page"}>
      <div class="block-head">
        <h2 ref={heading} class="grow">
          {response ? response.kind : "Block"}
          {response && <span class="quiet"> block {grouped(response.block)}</span>}
        </h2>
        <GoTo field={go} />
      </div>
      {error ? (
        <ErrorMessage error={error} />
      ) : number === null ? (
        <Empty title="No block is selected">
          <p>Boxes, rows and paths lead to blocks.</p>
        </Empty>
      ) : (
        response && <Body response={response} />
      )}
    </div>
  );
}

function GoTo({ field }: { field: { current: HTMLInputElement | null } }) {
  const [typed, setTyped] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const number = Number(typed.replaceAll(",", ""));
        if (Number.isInteger(number) && number >= 0 && typed.trim() !== "") openBlock(number);
      }}
    >
      <input
        ref={field}
        class="field small"
        inputMode="numeric"
        placeholder="block number"
        aria-label="go to the block with this number"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </form>
  );
}

function Body({ response }: { response: BlockResponse }) {
  return (
    <>
      <Facts response={response} />
      {response.text !== null && <Text response={response} />}
      <div class="block-columns">
        <section aria-label="what retains it">
          <h3>What retains it</h3>
          {response.reachable ? (
            <Paths response={response} />
          ) : (
            <p class="quiet">Nothing: it is dead, and not yet swept.</p>
          )}
        </section>
        <div>
          {response.sample && <Allocated sample={response.sample} />}
          {!response.sample && response.allocated && (
            <section aria-label="where blocks like it were allocated">
              <h3>Blocks like it</h3>
              <p>{allocatedBy(response.allocated)}</p>
            </section>
          )}
          <References title="It refers to" list={response.references} fields="field" nothing="It refers to no block." />
          <References
            title="Refers to it"
            list={response.referenced_by}
            fields="through"
            nothing="No block or root refers to it."
          />
          <Dominated response={response} />
        </div>
      </div>
    </>
  );
}

/** The shortest path, or all paths that have no block in common. */
function Paths({ response }: { response: BlockResponse }) {
  const all = shown.value === "all";
  const steps = unfolded.value !== "";
  const { response: found } = useHeapQuery(
    all || steps
      ? {
          query: "heappath",
          block: response.block,
          how: all ? "disjoint" : "shortest",
          unfolded: steps,
          limit: MAX_PATHS,
        }
      : null,
  );
  const paths = found?.paths ?? [];
  const one = steps ? (paths[0]?.steps ?? []) : response.path;
  const folds =
    steps || [{ steps: response.path }, ...paths].some(({ steps: of }) => of.some((step) => step.container));
  return (
    <>
      <span class="path-tools">
        <Segmented label="paths" options={SHOWN} value={all ? "all" : "one"} onChoose={(id) => shown.set(id)} />
        {folds && (
          <label class="check small">
            <input
              type="checkbox"
              checked={steps}
              onChange={(event) => unfolded.set(event.currentTarget.checked ? "1" : "")}
            />{" "}
            steps inside containers
          </label>
        )}
      </span>
      {!all && <RetainingPath steps={one} />}
      {all &&
        paths.map(({ steps }, index) => (
          <div key={index} class="one-of-paths">
            {paths.length > 1 && <p class="faint">path {index + 1}</p>}
            <RetainingPath steps={steps} />
          </div>
        ))}
      {all && paths.length === 1 && <p class="quiet">Every path has a block in common with this one.</p>}
      {found?.all === false && <p class="quiet">There are more.</p>}
    </>
  );
}

function Facts({ response }: { response: BlockResponse }) {
  const { size, retained, blocks, retained_external, space, address, dominator } = response;
  return (
    <dl class="block-facts">
      <div>
        <dt>retains</dt>
        <dd>
          <strong>{bytes(retained)}</strong>
          {blocks > 1 && <span class="quiet"> in {count(blocks)} blocks</span>}
        </dd>
      </div>
      <div>
        <dt>itself</dt>
        <dd>{bytes(size)}</dd>
      </div>
      {retained_external > 0 && (
        <div>
          <dt>outside the heap</dt>
          <dd>{bytes(retained_external)}</dd>
        </div>
      )}
      <div>
        <dt>space</dt>
        <dd>
          {space}
          {address && <span class="quiet mono"> {address}</span>}
        </dd>
      </div>
      {dominator && (
        <div>
          <dt>retained by</dt>
          <dd class="clip">
            <a href={nodeHref(dominator.node)}>{dominator.name}</a>
          </dd>
        </div>
      )}
    </dl>
  );
}

function Text({ response: { text, text_length, text_is_cut: cut } }: { response: BlockResponse }) {
  return (
    <pre class="block-text" aria-label="contents">
      "{text}
      {cut ? "" : '"'}
      {cut && text_length !== null && <span class="quiet"> … {grouped(text_length)} bytes</span>}
    </pre>
  );
}

/** What would go with the block, by kind. */
function Dominated({ response }: { response: BlockResponse }) {
  const { rows, count: all } = response.dominates;
  return (
    <section aria-label="what it retains">
      <h3>What it retains</h3>
      {rows.length === 0 ? (
        <p class="quiet">Nothing but itself.</p>
      ) : (
        <>
          <table class="block-table">
            <tbody>
              {rows.map((row) => (
                <tr key={row.node}>
                  <td class="number">{bytes(row.retained)}</td>
                  <td class="bar-cell">
                    <span
                      class="bar"
                      style={{ width: `${100 * Math.min(1, ratio(row.retained, response.retained))}%` }}
                    />
                  </td>
                  <td class="wide-cell">
                    <a class="clip" href={hrefOf(row)} title={row.name}>
                      {row.name}
                    </a>
                    {row.blocks > 1 && <span class="quiet"> {count(row.blocks)} blocks</span>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {all > rows.length && <p class="quiet">and {grouped(all - rows.length)} more</p>}
          <p>
            <a href={dominatorHref(response.node)}>All of it, as a map</a>
            <WhoBelowButton node={response.node} />
          </p>
        </>
      )}
    </section>
  );
}

/** A block's own page, or the group below it. */
function hrefOf(row: ChildRow): string {
  if (row.what === "block") return nodeHref(row.node);
  return row.blocks === 1 && row.largest !== null ? blockHref(row.largest) : dominatorHref(row.node);
}

export const blockView: View = {
  id: "block",
  half: "heap",
  title: "Block",
  what: "One block: what retains it, what it refers to, where it was allocated",
  Component: BlockPage,
  applies: () => block.value !== "",
};
