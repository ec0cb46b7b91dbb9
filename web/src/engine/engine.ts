/** The engine as the page sees it: queries go in, responses come out. It may be a server or a worker. */
import type { RecordingEvent, Responses } from "../generated/responses.ts";
import type { QueryResponse } from "./slab.ts";

/** The name of a query. */
export type QueryName = keyof Responses;

/** What to ask; `query` names the query, the rest are its parameters. */
export interface Query<Name extends QueryName = QueryName> {
  query: Name;
  [parameter: string]: unknown;
}

/** What happens to a recording that grows. */
export type EngineEvent = RecordingEvent | { kind: "connected" } | { kind: "disconnected" };

export interface Engine {
  /** Served by `memtrail view`, or everything inside this file. */
  readonly kind: "served" | "offline";
  query<Fields>(query: Query, signal?: AbortSignal): Promise<QueryResponse<Fields>>;
  /** Requests a heap snapshot of the recorded program. */
  takeSnapshot(rec: number): Promise<void>;
  /** Calls back with events, until the returned function is called. */
  listen(notify: (event: EngineEvent) => void): () => void;
}
