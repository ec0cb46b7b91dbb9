/** What the filter leaves, as the timeline's response says, and why it is refused, if it is. */
import { signal } from "@preact/signals";
import type { OverviewResponse } from "../generated/responses.ts";
import type { EngineError } from "../engine/slab.ts";

export const selectedSums = signal<OverviewResponse | null>(null);

/** Shown at the condition that is to blame. */
export const filterError = signal<EngineError | null>(null);
