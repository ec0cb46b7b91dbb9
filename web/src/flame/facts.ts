/** What is known of a box: for the card beside the mouse, the line below, and screen readers. */
import type { Name } from "../generated/responses.ts";
import { estimatedBytes as bytes, estimatedCount as count } from "../state/estimates.ts";
import { placeOf, type Place } from "../source/place.ts";
import { percent, ratio, seconds } from "../text/units.ts";
import { labelOfKey, moduleLabel } from "./keys.ts";
import { whereabouts } from "./moves.ts";
import type { NameBook } from "./names.ts";
import type { Box } from "./rows.ts";
import { treeOf, type Scene } from "./scene.ts";

export interface Facts {
  readonly name: string;
  /** The function's whole name, for filters. */
  readonly functionName: string | null;
  /** What queries call it. */
  readonly key: string | null;
  readonly kind: Name["kind"] | "unknown";
  readonly module: string | null;
  /** `list.ml:92`, or with columns for a call site. */
  readonly place: string | null;
  /** The same, for the source panel. */
  readonly source: Place | null;
  readonly size: string;
  readonly ofTotal: string;
  readonly ofFocus: string;
  readonly blocks: string | null;
  readonly lifetime: string | null;
  /** In the order of time: from when to when. */
  readonly when: string | null;
  readonly where: string;
  /** Lighter boxes above it were left out. */
  readonly more: boolean;
}

export function factsOf(scene: Scene, total: number, focus: readonly string[], names: NameBook, box: Box): Facts {
  // The ends of the focus are the roots of the trees, which know more.
  const ends = box.part === "focus" ? endOfFocus(scene, box.at) : null;
  const part = ends?.part ?? box.part;
  const at = ends?.at ?? box.at;
  const tree = treeOf(scene, part);
  const name = tree ? names.get(tree.entity[at]!) : undefined;
  const focusBytes = (scene.callees ?? scene.callers)?.bytes[0] ?? scene.width;
  const size = tree ? tree.bytes[at]! : focusBytes;
  const blocks = tree ? tree.blocks[at]! : null;
  return {
    name:
      (name?.kind === "module" ? moduleLabel(name.name) : name?.name) ??
      (box.part === "focus" ? labelOfKey(focus[box.at] ?? "") : "…"),
    functionName: functionOf(name),
    key: name?.key ?? null,
    kind: name?.kind ?? "unknown",
    module: name?.module || null,
    place: name ? placeOfName(name) : null,
    source: placeOf(name),
    size: bytes(size),
    ofTotal: percent(ratio(size, total)),
    ofFocus: percent(ratio(size, focusBytes)),
    blocks: blocks === null || Number.isNaN(blocks) ? null : count(blocks),
    lifetime: tree && Number.isFinite(tree.lifetime[at]) ? seconds(tree.lifetime[at]!) : null,
    when: tree && scene.timed ? span(tree.left[at]!, tree.right[at]!, scene.timed) : null,
    where: whereabouts(scene, box),
    more: tree ? tree.more[at] !== 0 : false,
  };
}

function span(from: number, to: number, unit: "time" | "allocation"): string {
  const text = unit === "time" ? seconds : bytes;
  return `${text(from)} – ${text(to)}`;
}

function functionOf(name: Name | undefined): string | null {
  if (name?.kind === "function") return name.key;
  return name?.kind === "site" ? name.name : null;
}

function endOfFocus(scene: Scene, at: number): Box | null {
  if (at === scene.rows.focus - 1 && scene.callees?.size) return { part: "callees", at: 0 };
  if (at === 0 && scene.callers?.size) return { part: "callers", at: 0 };
  return null;
}

export function placeOfName({ file, line, start, end, kind }: Name): string | null {
  if (!file) return null;
  if (line === null) return file;
  const columns = kind === "site" && start !== null && end !== null ? `:${start}-${end}` : "";
  return `${file}:${line}${columns}`;
}

/** All of it as a sentence. */
export function spoken(facts: Facts): string {
  const parts = [
    facts.kind === "site" ? `allocation site in ${facts.name}` : facts.name,
    facts.place,
    facts.size,
    `${facts.ofTotal} of the selection`,
    facts.when,
    facts.where,
  ];
  return parts.filter(Boolean).join(", ");
}
