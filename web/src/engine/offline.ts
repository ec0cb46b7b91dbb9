/** The engine of a page that was opened from disk: the file contains everything. */
import workerText from "worker:./worker.ts";
import { fromBase64 } from "./base64.ts";
import { unpack, type Parcel } from "./core.ts";
import type { Query, Engine } from "./engine.ts";
import { decode, EngineError, type QueryResponse } from "./slab.ts";
import { storedResponse } from "./stored.ts";
import type { Order, Report } from "./worker.ts";

const WASM = 'script[type="application/x-memtrail-wasm"]';
const TRACE = 'script[type="application/x-memtrail-trace"]';

const SNAPSHOT = 'script[type="application/x-memtrail-snapshot"]';
const TYPES = 'script[type="application/x-memtrail-types"]';
const REFERENCES = 'script[type="application/x-memtrail-references"]';
const SOURCES = 'script[type="application/x-memtrail-sources"]';
const VIEW = 'script[type="application/x-memtrail-view"]';

export function isOffline(): boolean {
  return document.querySelector(WASM) !== null;
}

/** The hash that the file was made with; shown unless a link says otherwise. */
export function firstView(): string {
  return document.querySelector(VIEW)?.textContent?.trim() ?? "";
}

/** Gives the bytes of a response to the text of a query. */
type Server = (query: string) => Promise<ArrayBuffer>;

export class OfflineEngine implements Engine {
  readonly kind = "offline";
  private readonly server: Promise<Server>;
  /** Asks are answered one after the other: those that nobody waits for any more are skipped. */
  private turn: Promise<unknown> = Promise.resolve();

  constructor() {
    this.server = boot();
    // Told by each query; unheard it would also be an error of the page.
    this.server.catch(() => undefined);
  }

  query<Fields>(query: Query, signal?: AbortSignal): Promise<QueryResponse<Fields>> {
    const response = this.turn.then(async () => {
      const server = await this.server;
      if (signal?.aborted) throw new EngineError("not asked any more");
      const stored = await storedResponse<Fields>(query);
      if (stored) return stored;
      return decode<Fields>(await server(JSON.stringify(query)));
    });
    this.turn = response.catch(() => undefined);
    return response;
  }

  takeSnapshot(): Promise<void> {
    return Promise.reject(new EngineError("this page is a file: there is no program to ask"));
  }

  listen(): () => void {
    return () => undefined;
  }
}

async function boot(): Promise<Server> {
  try {
    return await inWorker(await takeParcel());
  } catch (error) {
    if (error instanceof EngineError) throw error;
    // No worker here: the page itself does the work, and does not respond meanwhile.
    const core = await unpack(await takeParcel());
    return async (query) => core.query(query);
  }
}

async function takeParcel(): Promise<Parcel> {
  const wasm = document.querySelector(WASM);
  if (!wasm) throw new EngineError("this page holds no engine");
  return {
    wasm: await window.unxz(fromBase64(wasm.textContent ?? "")).catch((error: unknown) => {
      throw new EngineError(String(error), "the file may be damaged");
    }),
    recordings: [...document.querySelectorAll<HTMLScriptElement>(TRACE)].map((script) => ({
      trace: fromBase64(script.textContent ?? ""),
      description: script.dataset["description"] ?? "{}",
    })),
    snapshots: [...document.querySelectorAll<HTMLScriptElement>(SNAPSHOT)].map((script) => ({
      recording: Number(script.dataset["recording"] ?? 0),
      meta: script.dataset["snapshot"] ?? "{}",
      bytes: fromBase64(script.textContent ?? ""),
      types: fromBase64(typesOf(script)),
    })),
    references: [...document.querySelectorAll<HTMLScriptElement>(REFERENCES)].map((script) => ({
      recording: Number(script.dataset["recording"] ?? 0),
      facts: script.dataset["facts"] ?? "{}",
      bytes: fromBase64(script.textContent ?? ""),
    })),
    sources: fromBase64(document.querySelector(SOURCES)?.textContent ?? ""),
  };
}

/** The element behind a snapshot's has its types, if there are any. */
function typesOf(snapshot: HTMLScriptElement): string {
  const next = snapshot.nextElementSibling;
  return next?.matches(TYPES) ? (next.textContent ?? "") : "";
}

function inWorker(parcel: Parcel): Promise<Server> {
  const url = URL.createObjectURL(new Blob([workerText], { type: "text/javascript" }));
  const worker = new Worker(url);
  const order = (order: Order, transfer: Transferable[] = []) => worker.postMessage(order, transfer);
  return new Promise((resolve, reject) => {
    const waiting: { resolve(response: ArrayBuffer): void; reject(error: Error): void }[] = [];
    const server: Server = (query) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        order({ query });
      });
    worker.onmessage = ({ data }: MessageEvent<Report>) => {
      if ("ready" in data) {
        URL.revokeObjectURL(url);
        resolve(server);
        return;
      }
      const next = waiting.shift();
      if ("response" in data) next?.resolve(data.response);
      else if (next) next.reject(new EngineError(data.failure));
      else reject(new EngineError(data.failure, "the file may be damaged"));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      const error = new Error(event.message);
      reject(error);
      for (const next of waiting.splice(0)) next.reject(error);
    };
    const { wasm, recordings, snapshots, references, sources } = parcel;
    const buffers = snapshots.flatMap(({ bytes, types }) => [bytes, types]);
    buffers.push(...references.map(({ bytes }) => bytes));
    order({ parcel }, [wasm, sources, ...recordings.map(({ trace }) => trace), ...buffers]);
  });
}
