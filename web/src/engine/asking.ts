/** How a component asks the engine: answers are kept, outdated asks dropped, and nothing flashes. */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { Ask, Engine } from "./engine.ts";
import { EngineError, type Answer } from "./slab.ts";

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

export interface Asked<Fields> {
  /** The newest answer there is. An older one stays until the new one has come. */
  answer: Answer<Fields> | null;
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
const kept = new Map<string, Answer<unknown>>();

function keep(ask: string, answer: Answer<unknown>) {
  kept.delete(ask);
  kept.set(ask, answer);
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT_ANSWERS) break;
    kept.delete(oldest);
  }
}

/** Asks once, outside of drawing. */
export async function askOnce<Fields>(ask: Ask, signal?: AbortSignal): Promise<Answer<Fields>> {
  asking.value += 1;
  try {
    return await engine().ask<Fields>(ask, signal);
  } finally {
    asking.value -= 1;
  }
}

/**
 * The answer to `ask` in a component. Asks again when `ask` changes (compared as JSON) or the
 * recording grows. `null` asks nothing.
 */
export function useAsk<Fields>(ask: Ask | null): Asked<Fields> {
  const text = ask && JSON.stringify(ask);
  const key = text && `${revision.value} ${text}`;
  const [state, setState] = useState<{ key: string | null; asked: Asked<Fields> }>({
    key: null,
    asked: { answer: null, error: null, late: false, fresh: false },
  });

  const ready = key ? (kept.get(key) as Answer<Fields> | undefined) : undefined;
  useEffect(() => {
    if (!key || !text) return undefined;
    const known = kept.get(key) as Answer<Fields> | undefined;
    if (known) {
      keep(key, known);
      setState({ key, asked: { answer: known, error: null, late: false, fresh: true } });
      return undefined;
    }
    const stop = new AbortController();
    let told = false;
    const timer = setTimeout(() => {
      told = true;
      waiting.value += 1;
      setState((old) => ({ key: old.key, asked: { ...old.asked, late: true, fresh: false } }));
    }, LATE_AFTER_MS);
    const settle = () => {
      clearTimeout(timer);
      if (told) waiting.value -= 1;
      told = false;
    };
    askOnce<Fields>(JSON.parse(text) as Ask, stop.signal).then(
      (answer) => {
        if (stop.signal.aborted) return;
        settle();
        keep(key, answer);
        setState({ key, asked: { answer, error: null, late: false, fresh: true } });
      },
      (error: unknown) => {
        if (stop.signal.aborted) return;
        settle();
        setState((old) => ({
          key,
          asked: { answer: old.asked.answer, error: asEngineError(error), late: false, fresh: false },
        }));
      },
    );
    return () => {
      settle();
      stop.abort();
    };
  }, [key]);

  if (ready) return { answer: ready, error: null, late: false, fresh: true };
  if (state.key === key) return state.asked;
  return { ...state.asked, error: null, fresh: false };
}

function asEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  return new EngineError(error instanceof Error ? error.message : String(error));
}
