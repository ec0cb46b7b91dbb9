/**
 * One request at a time, and only the newest of those that come meanwhile: a drag makes sixty
 * requests a second, an engine on a large recording answers ten. A request that takes long gives
 * way to a newer one; one that is answered soon is let finish, so that the picture follows.
 */

/** How long a request may go on when there is a newer one. */
export const PATIENCE_MS = 250;

export interface Handlers<T> {
  run(request: string, signal: AbortSignal): Promise<T>;
  responded(request: string, response: T): void;
  failed(request: string, error: unknown): void;
}

interface Flight {
  request: string;
  stop: AbortController;
  /** When it gives way to another; milliseconds of `performance.now`. */
  until: number;
}

export class NewestRequest<T> {
  private flight: Flight | null = null;
  private next: string | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly handlers: Handlers<T>) {}

  /** This is wanted now, and nothing else. */
  want(request: string): void {
    this.forgetNext();
    if (!this.flight) {
      void this.start(request);
      return;
    }
    if (this.flight.request === request) return;
    this.next = request;
    this.timer = setTimeout(() => this.overtake(), Math.max(0, this.flight.until - performance.now()));
  }

  /** Nothing is wanted any more. */
  stop(): void {
    this.forgetNext();
    this.flight?.stop.abort();
    this.flight = null;
  }

  private forgetNext(): void {
    clearTimeout(this.timer);
    this.next = null;
  }

  private overtake(): void {
    const { next } = this;
    this.stop();
    if (next !== null) void this.start(next);
  }

  private async start(request: string): Promise<void> {
    const stop = new AbortController();
    const flight: Flight = { request, stop, until: performance.now() + PATIENCE_MS };
    this.flight = flight;
    try {
      const response = await this.handlers.run(request, stop.signal);
      if (this.flight === flight) this.handlers.responded(request, response);
    } catch (error) {
      if (this.flight === flight) this.handlers.failed(request, error);
    }
    // It was overtaken, or stopped: what comes next is not its business.
    if (this.flight !== flight) return;
    this.flight = null;
    const { next } = this;
    this.forgetNext();
    if (next !== null) void this.start(next);
  }
}
