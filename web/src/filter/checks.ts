/**
 * What conditions say. The engine alone reads their text; the page asks once for each, and keeps the answers. What the
 * page has written itself it knows without asking: a range that is dragged must not lag.
 */
import { signal, type Signal } from "@preact/signals";
import { queryOnce } from "../engine/useQuery.ts";
import type { ConditionCheck, ConditionForm } from "../generated/responses.ts";

const checks = new Map<string, Signal<ConditionCheck | null>>();
const written = new Map<string, ConditionForm>();
let wanted: string[] = [];

/** Dragging makes a text each frame. */
const KEPT = 1000;
/** `Filter::MAX_CONDITIONS`: the engine answers no more at once. */
const AT_ONCE = 64;

/** What a condition says, or what is wrong with it. Nothing until the engine has said it: what is drawn is drawn again. */
export function checkOf(text: string): ConditionCheck | null {
  let check = checks.get(text);
  if (!check) {
    check = signal<ConditionCheck | null>(null);
    keep(checks, text, check);
    wanted.push(text);
    if (wanted.length === 1) queueMicrotask(() => void queryWanted());
  }
  return check.value;
}

/** The condition that a text is, once that is known. */
export function conditionOf(text: string): ConditionForm | null {
  const own = written.get(text);
  if (own) return own;
  const check = checkOf(text);
  return check && "condition" in check ? check.condition : null;
}

/** The same, outside of drawing. An engine that does not answer is what is wrong, then. */
export async function whenChecked(text: string): Promise<ConditionCheck> {
  try {
    const { conditions } = await queryOnce({ query: "conditions", texts: [text] });
    return conditions[0]!;
  } catch (error) {
    return { error: { at: 0, message: error instanceof Error ? error.message : String(error), hint: null } };
  }
}

/** Keeps what the page has made a text of. */
export function remember(text: string, condition: ConditionForm): void {
  keep(written, text, condition);
}

/** Keeps what the engine says of a text. */
export function answer(text: string, said: ConditionCheck): void {
  const check = checks.get(text);
  if (check) check.value = said;
  else keep(checks, text, signal<ConditionCheck | null>(said));
}

async function queryWanted(): Promise<void> {
  const all = wanted;
  wanted = [];
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const texts = all.slice(from, from + AT_ONCE);
    try {
      const { conditions } = await queryOnce({ query: "conditions", texts });
      texts.forEach((text, at) => answer(text, conditions[at]!));
    } catch {
      // They are asked for again when they are drawn again.
      for (const text of texts) checks.delete(text);
    }
  }
}

function keep<T>(map: Map<string, T>, text: string, value: T): void {
  map.set(text, value);
  for (const oldest of map.keys()) {
    if (map.size <= KEPT) break;
    map.delete(oldest);
  }
}
