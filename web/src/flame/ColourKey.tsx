/** What the colours of the flame graph mean: those that are always the same, and the modules in sight. */
import { Popover } from "../widgets/Popover.tsx";
import { FADED, FOCUS, MATCH, RUNTIME, SITE, moduleColour, type Paint } from "./colour.ts";
import { isRuntimeModule } from "./colouring.ts";
import type { NameBook } from "./names.ts";
import type { Scene } from "./scene.ts";

interface Props {
  scene: Scene;
  names: NameBook;
  paints: readonly Paint[];
  /** Only what a search has found has a colour of its own. */
  searching: boolean;
}

/** More cannot be distinguished. */
const MAX_MODULES = 12;

const ALWAYS = [
  { colour: FOCUS, what: "the focus" },
  { colour: SITE, what: "a place that allocates" },
  { colour: RUNTIME, what: "OCaml's own library, and C" },
];
const SEARCHED = [
  { colour: MATCH, what: "found by the search" },
  { colour: FADED, what: "not found by the search" },
];

export function ColourKey(props: Props) {
  return (
    <Popover label="Colours" title="What the colours mean" class="button small plain" align="end">
      {() => <List {...props} />}
    </Popover>
  );
}

function List({ scene, names, paints, searching }: Props) {
  const modules = searching ? [] : modulesOf(scene, names).slice(0, MAX_MODULES);
  const fixed = searching ? [...ALWAYS.slice(0, 1), ...SEARCHED] : ALWAYS;
  return (
    <ul class="colour-key">
      {fixed.map(({ colour, what }) => (
        <li key={what}>
          <Swatch paint={paints[colour]!} /> {what}
        </li>
      ))}
      {modules.map((module) => (
        <li key={module}>
          <Swatch paint={paints[moduleColour(module)]!} /> <span class="clip">{module}</span>
        </li>
      ))}
      {!searching && <li class="faint">modules of a family have the same hue</li>}
    </ul>
  );
}

function Swatch({ paint: { fill, edge } }: { paint: Paint }) {
  return (
    <span
      class="swatch"
      aria-hidden="true"
      style={{ background: fill, boxShadow: edge ? `inset 3px 0 ${edge}` : "inset 0 0 0 1px var(--line-2)" }}
    />
  );
}

/** The program's modules whose boxes are widest, widest first. */
function modulesOf({ callees, callers }: Scene, names: NameBook): string[] {
  const widest = new Map<string, number>();
  for (const tree of [callees, callers]) {
    for (let box = 0; tree && box < tree.size; box++) {
      const module = names.get(tree.entity[box]!)?.module;
      if (!module || isRuntimeModule(module)) continue;
      widest.set(module, Math.max(widest.get(module) ?? 0, tree.bytes[box]!));
    }
  }
  return [...widest].sort(([, a], [, b]) => b - a).map(([module]) => module);
}
