/** Answers about a last snapshot that is not in this file: its leaks and its largest owners. */
import { fromBase64 } from "./base64.ts";
import { gunzip } from "./core.ts";
import type { Query } from "./engine.ts";
import { decode, type QueryResponse } from "./slab.ts";

const ANSWER = 'script[type="application/x-memtrail-answer"]';

const selector = (rec: unknown, snapshot: unknown, query?: string) =>
  `${ANSWER}[data-recording="${Number(rec)}"][data-snapshot="${Number(snapshot)}"]` +
  (query ? `[data-query="${query}"]` : "");

/** True if the file has answers about this snapshot in its place. */
export function hasStoredResponses(rec: number, snapshot: number): boolean {
  return document.querySelector(selector(rec, snapshot)) !== null;
}

/** The stored answer to a query; null if there is none, or if it has other rows or another order. */
export async function storedResponse<Fields>(query: Query): Promise<QueryResponse<Fields> | null> {
  const { query: name, rec, snapshot, sort, descending, find, kind, offset, limit } = query;
  if (name !== "heapleaks" && name !== "heapowners") return null;
  const element = document.querySelector(selector(rec, snapshot, name));
  const isDefault = (!sort || sort === "owned") && descending !== false && !find && !kind;
  if (!element || !isDefault) return null;
  const response = decode<Fields>(await gunzip(fromBase64(element.textContent ?? "")));
  const { rows } = response as unknown as { rows?: unknown[] };
  if (!rows) return response;
  const first = Number(offset ?? 0);
  return { ...response, rows: rows.slice(first, first + Number(limit ?? rows.length)) };
}
