/** How a component asks the engine: answers are kept, outdated asks dropped, and nothing flashes. */
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
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

/** Asks under way. */
export const asking = signal(0);

/** Asks under way that the user has been waiting for, for the page's busy mark. */
export const waiting = signal(0);

export interface QueryState<Fields> {
  /** The newest answer there is. An older one stays until the new one has come. */
  answer: QueryResponse<Fields> | null;
  /** What was asked to get it, as JSON: not always the present ask. */
  of: string | null;
  /** Why there is no answer to the present ask. */
  error: EngineError | null;
  /** The answer belongs to an earlier ask, and the user has waited long enough to be told. */
  late: boolean;
  /** The answer belongs to the present ask. */
  fresh: boolean;
}

/** Longer than most answers take, shorter than anyone wonders. */
const LATE_AFTER_MS = 180;
const KEPT_ANSWERS = 48;

/** Answers by ask, the latest used last: going back shows at once what was there. */
const kept = new Map<string, QueryResponse<unknown>>();

function keep(ask: string, answer: QueryResponse<unknown>) {
  kept.delete(ask);
  kept.set(ask, answer);
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT_ANSWERS) break;
    kept.delete(oldest);
  }
}

/** Asks once, outside of drawing. */
export async function queryOnce<Name extends QueryName, Fields extends Responses[Name] = Responses[Name]>(
  ask: Query<Name>,
  signal?: AbortSignal,
): Promise<QueryResponse<Fields>> {
  asking.value += 1;
  try {
    return await whenAnalysed(() => engine().ask<Fields>(ask, signal), signal);
  } finally {
    asking.value -= 1;
  }
}

/**
 * The answer to `ask` in a component. Asks again when `ask` changes (compared as JSON) or the
 * recording grows. `null` asks nothing. What does not change as the recording grows is asked with a
 * `state` of its own: asked again when that changes.
 */
export function useQuery<Name extends QueryName, Fields extends Responses[Name] = Responses[Name]>(
  ask: Query<Name> | null,
  state?: string | number,
): QueryState<Fields> {
  const text = ask && JSON.stringify(ask);
  const key = text && `${state ?? revision.value} ${text}`;
  const [held, setHeld] = useState<{ key: string | null; asked: QueryState<Fields> }>({
    key: null,
    asked: { answer: null, of: null, error: null, late: false, fresh: false },
  });

  // The newest key, for answers that come when the component has moved on.
  const wanted = useRef<string | null>(null);
  wanted.current = key;
  const latest = useRef<NewestRequest<QueryResponse<Fields>> | null>(null);
  latest.current ??= new NewestRequest<QueryResponse<Fields>>({
    run: (request, signal) => queryOnce<Name, Fields>(JSON.parse(textOf(request)) as Query<Name>, signal),
    answered: (request, answer) => {
      keep(request, answer);
      const fresh = request === wanted.current;
      const of = textOf(request);
      setHeld((old) => ({ key: request, asked: { answer, of, error: null, late: !fresh && old.asked.late, fresh } }));
    },
    failed: (request, error) =>
      setHeld(({ asked: { answer, of } }) => ({
        key: request,
        asked: { answer, of, error: asEngineError(error), late: false, fresh: false },
      })),
  });

  const ready = key ? (kept.get(key) as QueryResponse<Fields> | undefined) : undefined;
  const settled = ready !== undefined || (held.key === key && held.asked.error !== null);
  useEffect(() => {
    if (ready && key) {
      latest.current?.stop();
      keep(key, ready);
      setHeld({ key, asked: { answer: ready, of: text, error: null, late: false, fresh: true } });
    } else if (key && !settled) latest.current?.want(key);
  }, [key]);
  useEffect(() => () => latest.current?.stop(), []);
  useEffect(() => {
    if (!key || settled) return undefined;
    let told = false;
    const timer = setTimeout(() => {
      told = true;
      waiting.value += 1;
      setHeld((old) => ({ key: old.key, asked: { ...old.asked, late: true } }));
    }, LATE_AFTER_MS);
    return () => {
      clearTimeout(timer);
      if (told) waiting.value -= 1;
    };
  }, [key, settled]);

  if (ready) return { answer: ready, of: text, error: null, late: false, fresh: true };
  if (held.key === key) return held.asked;
  return { ...held.asked, error: null, fresh: false };
}

/** The ask in a key: what comes after the revision. */
function textOf(key: string): string {
  return key.slice(key.indexOf(" ") + 1);
}

function asEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  return new EngineError(error instanceof Error ? error.message : String(error));
}
