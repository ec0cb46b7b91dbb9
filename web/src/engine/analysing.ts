/** Snapshots are analysed when they are first asked about, which may take a while. */
import { signal } from "@preact/signals";
import type { Analysing, AnalysingResponse } from "../generated/responses.ts";
import type { QueryResponse } from "./slab.ts";

/** What the engine is analysing for somebody who waits. */
export const analysing = signal<Analysing | null>(null);

const AGAIN_AFTER_MS = 300;

/** Those who wait for an analysis. */
let waiting = 0;

/** Asks until the response is one. */
export async function whenAnalysed<Fields>(
  query: () => Promise<QueryResponse<Fields>>,
  signal: AbortSignal | undefined,
): Promise<QueryResponse<Fields>> {
  let response = await query();
  if (!isAnalysing(response)) return response;
  waiting += 1;
  try {
    while (isAnalysing(response)) {
      analysing.value = response.analysing;
      await new Promise((done) => setTimeout(done, AGAIN_AFTER_MS));
      signal?.throwIfAborted();
      response = await query();
    }
    return response;
  } finally {
    waiting -= 1;
    if (waiting === 0) analysing.value = null;
  }
}

function isAnalysing(response: object): response is AnalysingResponse {
  return "analysing" in response;
}
