/** Where in the dominator tree we are: every step up is a link. */
import { bytes } from "../text/units.ts";
import type { NodeInfo } from "../generated/responses.ts";
import { Popover } from "../widgets/Popover.tsx";
import { dominatorHref } from "./state.ts";

/** Of more steps than that those in the middle are in a menu. */
const MAX_STEPS = 8;
const KEPT_LAST = 5;

/** The way down to a node, itself included, whether it came with it or not. */
export function downTo(path: readonly NodeInfo[], self: NodeInfo | undefined): readonly NodeInfo[] {
  return !self || path.at(-1)?.node === self.node ? path : [...path, self];
}

export function Trail({ path }: { path: readonly NodeInfo[] }) {
  const left = path.length > MAX_STEPS ? path.length - KEPT_LAST - 1 : 0;
  const shown = left > 0 ? [path[0]!, ...path.slice(-KEPT_LAST)] : path;
  return (
    <nav class="trail" aria-label="where in the dominator tree">
      <ol>
        {shown.map(({ node, name, retained }, index) => (
          <li key={node}>
            {left > 0 && index === 1 && <Between steps={path.slice(1, -KEPT_LAST)} />}
            <a
              href={dominatorHref(node)}
              class="clip"
              title={`${name}: retains ${bytes(retained)}`}
              aria-current={index === shown.length - 1 ? "location" : undefined}
            >
              {name}
            </a>
            {index === shown.length - 1 && <span class="quiet"> {bytes(retained)}</span>}
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** The steps that there is no room for. */
function Between({ steps }: { steps: readonly NodeInfo[] }) {
  return (
    <Popover label={`… ${steps.length} more`} title={`${steps.length} steps between`} class="button small plain">
      {(close) =>
        steps.map(({ node, name, retained }) => (
          <a key={node} class="menu-item" href={dominatorHref(node)} onClick={close}>
            <span>{name}</span>
            <small>{bytes(retained)}</small>
          </a>
        ))
      }
    </Popover>
  );
}
