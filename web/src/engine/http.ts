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

  listen(tell: (news: News) => void): () => void {
    const source = new EventSource("api/events");
    const on = (kind: "added" | "grown" | "ended" | "lost") =>
      source.addEventListener(kind, (event) => tell({ kind, ...JSON.parse((event as MessageEvent<string>).data) }));
    on("added");
    on("grown");
    on("ended");
    on("lost");
    source.onopen = () => tell({ kind: "connected" });
    source.onerror = () => tell({ kind: "disconnected" });
    return () => source.close();
  }
}

function startsLikeAnAnswer(buffer: ArrayBuffer): boolean {
  return buffer.byteLength >= 8 && new TextDecoder().decode(buffer.slice(0, 4)) === "MTA1";
}
