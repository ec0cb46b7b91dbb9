/** Names of functions and call sites, asked for as they are needed and kept while the page lives. */
import { signal } from "@preact/signals";
import { queryOnce } from "../engine/useQuery.ts";
import type { Name } from "../generated/responses.ts";

/** Most asked for at once. */
const ASKED_AT_ONCE = 500;

/** The names of one recording. */
class NameBook {
  private readonly names = new Map<number, Name>();
  private readonly wanted = new Set<number>();
  private readonly requested = new Set<number>();
  private requesting = false;

  constructor(private readonly rec: number) {}

  get(entity: number): Name | undefined {
    return this.names.get(entity);
  }

  /** Asks for a name soon, together with others that are wanted now. */
  want(entity: number): void {
    if (this.requested.has(entity)) return;
    this.requested.add(entity);
    this.wanted.add(entity);
    if (!this.requesting) {
      this.requesting = true;
      queueMicrotask(() => void this.request());
    }
  }

  /** Nothing that was wanted is still on its way. */
  get settled(): boolean {
    return !this.requesting;
  }

  /** The names of `entities`, waiting for those that are not known yet. */
  async all(entities: readonly number[]): Promise<Name[]> {
    const missing = entities.filter((entity) => !this.names.has(entity));
    for (let at = 0; at < missing.length; at += ASKED_AT_ONCE) {
      await this.fetch(missing.slice(at, at + ASKED_AT_ONCE));
    }
    return entities.flatMap((entity) => this.names.get(entity) ?? []);
  }

  private async request(): Promise<void> {
    while (this.wanted.size > 0) {
      const batch = [...this.wanted].slice(0, ASKED_AT_ONCE);
      for (const entity of batch) this.wanted.delete(entity);
      try {
        await this.fetch(batch);
      } catch {
        // Boxes stay nameless until something else asks again; the view says what is wrong.
        for (const entity of batch) this.requested.delete(entity);
        break;
      }
      if (this.wanted.size > 0) named.value += 1;
    }
    this.requesting = false;
    named.value += 1;
  }

  private async fetch(entities: readonly number[]): Promise<void> {
    // The engine leaves out names that would make a response too large.
    const { names } = await queryOnce({ query: "names", rec: this.rec, entities });
    entities.forEach((entity, index) => {
      const name = names[index];
      if (name) this.names.set(entity, name);
    });
  }
}

const books = new Map<number, NameBook>();

/** Counts how often names have come. */
export const named = signal(0);

export function namesOf(rec: number): NameBook {
  let book = books.get(rec);
  if (!book) {
    book = new NameBook(rec);
    books.set(rec, book);
  }
  return book;
}

export type { NameBook };
