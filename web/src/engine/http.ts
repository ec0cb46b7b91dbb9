/** The engine behind `memtrail view`: queries over HTTP, and polls for events. */
import type { ErrorResponse, EventsResponse } from "../generated/responses.ts";
import type { Query, Engine, EngineEvent } from "./engine.ts";
import { decode, EngineError, type QueryResponse } from "./slab.ts";

/** Between two polls for events. Agents write twice a second. */
const BETWEEN_MS = 500;
/** The same while nobody answers. */
const BETWEEN_TRIES_MS = 2000;
/** A server that has not answered after so long does not. */
const UNANSWERED_MS = 10_000;

export class HttpEngine implements Engine {
  readonly kind = "served";

  async query<Fields>(query: Query, signal?: AbortSignal): Promise<QueryResponse<Fields>> {
    let response: Response;
    try {
      response = await fetch("api/query", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(query),
        signal: signal ?? null,
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new EngineError("memtrail view does not answer", "is it still running?");
    }
    const buffer = await response.arrayBuffer();
    if (!response.ok && !startsLikeAResponse(buffer)) {
      throw new EngineError(`memtrail view answers ${response.status} ${response.statusText}`);
    }
    return decode<Fields>(buffer);
  }

  async takeSnapshot(rec: number): Promise<void> {
    let response: Response;
    try {
      response = await fetch("api/snapshot", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ rec }),
      });
    } catch {
      throw new EngineError("memtrail view does not answer", "is it still running?");
    }
    const buffer = await response.arrayBuffer();
    if (startsLikeAResponse(buffer)) decode(buffer);
    else if (!response.ok) throw errorIn(new TextDecoder().decode(buffer), response);
  }

  /**
   * Polls for events. A stream of events would hold a connection for each page, and a
   * browser has six for an origin: the seventh page would wait for ever. Pages that are not seen
   * ask when they are seen again.
   */
  listen(notify: (event: EngineEvent) => void): () => void {
    let version: number | null = null;
    let connected: boolean | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let stopped = false;
    let polling = false;
    const poll = async () => {
      if (polling || stopped) return;
      clearTimeout(timer);
      polling = true;
      try {
        const since = version === null ? "" : `?since=${version}`;
        const response = await fetch(`api/events${since}`, { signal: AbortSignal.timeout(UNANSWERED_MS) });
        if (!response.ok) throw new Error(response.statusText);
        const polled = (await response.json()) as EventsResponse;
        if (stopped) return;
        version = polled.version;
        if (connected !== true) notify({ kind: "connected" });
        connected = true;
        for (const event of polled.events) notify(event);
      } catch {
        if (stopped) return;
        if (connected !== false) notify({ kind: "disconnected" });
        connected = false;
      } finally {
        polling = false;
      }
      if (!document.hidden) timer = setTimeout(poll, connected ? BETWEEN_MS : BETWEEN_TRIES_MS);
    };
    const seen = () => void (document.hidden || poll());
    document.addEventListener("visibilitychange", seen);
    void poll();
    return () => {
      stopped = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
    };
  }
}

/** An error as JSON, or whatever came instead. */
function errorIn(text: string, response: Response): EngineError {
  try {
    const { message, hint } = (JSON.parse(text) as ErrorResponse).error;
    return new EngineError(message, hint);
  } catch {
    return new EngineError(`memtrail view answers ${response.status} ${response.statusText}`);
  }
}

function startsLikeAResponse(buffer: ArrayBuffer): boolean {
  return buffer.byteLength >= 8 && new TextDecoder().decode(buffer.slice(0, 4)) === "MTA1";
}
