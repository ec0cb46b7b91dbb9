/** What the filter leaves, as the timeline's answer says, and why it is refused, if it is. */
import { signal } from "@preact/signals";
import type { Overview } from "../engine/answers.ts";
import type { EngineError } from "../engine/slab.ts";

export const chosenSums = signal<Overview | null>(null);

/** Shown at the condition that is to blame. */
export const refusal = signal<EngineError | null>(null);
