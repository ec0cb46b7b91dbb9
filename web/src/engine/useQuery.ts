/** How a component asks the engine: responses are kept, outdated queries dropped, and nothing flashes. */
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { whenAnalysed } from "./analysing.ts";
import type { Responses } from "../generated/responses.ts";
import type { Query, Engine, QueryName } from "./engine.ts";
import { NewestRequest } from "./newestRequest.ts";
import { EngineError, type QueryResponse } from "./slab.ts";

let engineInUse: Engine | undefined;

/** The page's engine. Set once, before the page is drawn. */
export function setEngine(engine: Engine): void {
  engineInUse = engine;
}

export function engine(): Engine {
  if (!engineInUse) throw new EngineError("no engine yet");
  return engineInUse;
}

/** Counts how often the recordings have grown: what is shown is then asked again. */
export const revision = signal(0);

/** Queries under way. */
export const pending = signal(0);

/** Queries under way that the user has been waiting for, for the page's busy mark. */
export const waiting = signal(0);

export interface QueryState<Fields> {
  /** The newest response there is. An older one stays until the new one has come. */
  response: QueryResponse<Fields> | null;
  /** What was asked to get it, as JSON: not always the present query. */
  of: string | null;
  /** Why there is no response to the present query. */
  error: EngineError | null;
  /** The response belongs to an earlier query, and the user has waited long enough to see that. */
  late: boolean;
  /** The response belongs to the present query. */
  fresh: boolean;
}

/** Longer than most responses take, shorter than anyone wonders. */
const LATE_AFTER_MS = 180;
const KEPT_RESPONSES = 48;

/** Responses by query, the latest used last: going back shows at once what was there. */
const kept = new Map<string, QueryResponse<unknown>>();

function keep(query: string, response: QueryResponse<unknown>) {
  kept.delete(query);
  kept.set(query, response);
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT_RESPONSES) break;
    kept.delete(oldest);
  }
}

/** Asks once, outside of drawing. */
export async function queryOnce<Name extends QueryName, Fields extends Responses[Name] = Responses[Name]>(
  query: Query<Name>,
  signal?: AbortSignal,
): Promise<QueryResponse<Fields>> {
  pending.value += 1;
  try {
    return await whenAnalysed(() => engine().query<Fields>(query, signal), signal);
  } finally {
    pending.value -= 1;
  }
}

/**
 * The response to `query` in a component. Asks again when `query` changes (compared as JSON) or the
 * recording grows. `null` asks nothing. What does not change as the recording grows is asked with a
 * `version` of its own: asked again when that changes.
 */
export function useQuery<Name extends QueryName, Fields extends Responses[Name] = Responses[Name]>(
  query: Query<Name> | null,
  version?: string | number,
): QueryState<Fields> {
  const text = query && JSON.stringify(query);
  const key = text && `${version ?? revision.value} ${text}`;
  const [held, setHeld] = useState<{ key: string | null; state: QueryState<Fields> }>({
    key: null,
    state: { response: null, of: null, error: null, late: false, fresh: false },
  });

  // The newest key, for answers that come when the component has moved on.
  const wanted = useRef<string | null>(null);
  wanted.current = key;
  const latest = useRef<NewestRequest<QueryResponse<Fields>> | null>(null);
  latest.current ??= new NewestRequest<QueryResponse<Fields>>({
    run: (request, signal) => queryOnce<Name, Fields>(JSON.parse(textOf(request)) as Query<Name>, signal),
    responded: (request, response) => {
      keep(request, response);
      const fresh = request === wanted.current;
      const of = textOf(request);
      setHeld((old) => ({ key: request, state: { response, of, error: null, late: !fresh && old.state.late, fresh } }));
    },
    failed: (request, error) =>
      setHeld(({ state: { response, of } }) => ({
        key: request,
        state: { response, of, error: asEngineError(error), late: false, fresh: false },
      })),
  });

  const ready = key ? (kept.get(key) as QueryResponse<Fields> | undefined) : undefined;
  const settled = ready !== undefined || (held.key === key && held.state.error !== null);
  // Asked as soon as it is drawn, not after the next frame: what waits until nothing is being asked would look between.
  useLayoutEffect(() => {
    if (ready && key) {
      latest.current?.stop();
      keep(key, ready);
      setHeld({ key, state: { response: ready, of: text, error: null, late: false, fresh: true } });
    } else if (key && !settled) latest.current?.want(key);
  }, [key]);
  useEffect(() => () => latest.current?.stop(), []);
  useEffect(() => {
    if (!key || settled) return undefined;
    let counted = false;
    const timer = setTimeout(() => {
      counted = true;
      waiting.value += 1;
      setHeld((old) => ({ key: old.key, state: { ...old.state, late: true } }));
    }, LATE_AFTER_MS);
    return () => {
      clearTimeout(timer);
      if (counted) waiting.value -= 1;
    };
  }, [key, settled]);

  if (ready) return { response: ready, of: text, error: null, late: false, fresh: true };
  if (held.key === key) return held.state;
  return { ...held.state, error: null, fresh: false };
}

/** The query in a key: what comes after the revision. */
function textOf(key: string): string {
  return key.slice(key.indexOf(" ") + 1);
}

function asEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  return new EngineError(error instanceof Error ? error.message : String(error));
}
