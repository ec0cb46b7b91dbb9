/** Snapshots are analysed when they are first asked about, which may take a while. */
import { signal } from "@preact/signals";
import type { Analysing, AnalysingResponse } from "../generated/responses.ts";
import type { QueryResponse } from "./slab.ts";

/** What the engine is analysing for somebody who waits. */
export const analysing = signal<Analysing | null>(null);

const AGAIN_AFTER_MS = 300;

/** Those who wait for an analysis. */
let waiting = 0;

/** Asks until the answer is one. */
export async function whenAnalysed<Fields>(
  ask: () => Promise<QueryResponse<Fields>>,
  signal: AbortSignal | undefined,
): Promise<QueryResponse<Fields>> {
  let answer = await ask();
  if (!isAnalysing(answer)) return answer;
  waiting += 1;
  try {
    while (isAnalysing(answer)) {
      analysing.value = answer.analysing;
      await new Promise((done) => setTimeout(done, AGAIN_AFTER_MS));
      signal?.throwIfAborted();
      answer = await ask();
    }
    return answer;
  } finally {
    waiting -= 1;
    if (waiting === 0) analysing.value = null;
  }
}

function isAnalysing(answer: object): answer is AnalysingResponse {
  return "analysing" in answer;
}
