/** The engine behind `memtrail view`: asks over HTTP, news as server-sent events. */
import type { Ask, Engine, News } from "./engine.ts";
import { decode, EngineError, type Answer } from "./slab.ts";

export class HttpEngine implements Engine {
  readonly kind = "served";

  async ask<Fields>(ask: Ask, signal?: AbortSignal): Promise<Answer<Fields>> {
    let response: Response;
    try {
      response = await fetch("api/ask", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(ask),
        signal: signal ?? null,
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new EngineError("memtrail view does not answer", "is it still running?");
    }
    const buffer = await response.arrayBuffer();
    if (!response.ok && !startsLikeAnAnswer(buffer)) {
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
    if (startsLikeAnAnswer(buffer)) decode(buffer);
    else if (!response.ok) throw refusalIn(new TextDecoder().decode(buffer), response);
  }

  listen(tell: (news: News) => void): () => void {
    const source = new EventSource("api/events");
    const on = (kind: "added" | "grown" | "ended" | "lost" | "snapshot" | "analysed") =>
      source.addEventListener(kind, (event) => tell({ kind, ...JSON.parse((event as MessageEvent<string>).data) }));
    on("added");
    on("grown");
    on("ended");
    on("lost");
    on("snapshot");
    on("analysed");
    source.onopen = () => tell({ kind: "connected" });
    source.onerror = () => tell({ kind: "disconnected" });
    return () => source.close();
  }
}

/** An error as JSON, or whatever came instead. */
function refusalIn(text: string, response: Response): EngineError {
  try {
    const { message, hint } = JSON.parse(text).error;
    return new EngineError(String(message), hint ?? undefined);
  } catch {
    return new EngineError(`memtrail view answers ${response.status} ${response.statusText}`);
  }
}

function startsLikeAnAnswer(buffer: ArrayBuffer): boolean {
  return buffer.byteLength >= 8 && new TextDecoder().decode(buffer.slice(0, 4)) === "MTA1";
}
