/** Recordings that grow: what is shown is asked again, at most once a second. Filters stay. */
import { signal } from "@preact/signals";
import { queryOnce, engine, revision } from "../engine/useQuery.ts";
import { EngineError } from "../engine/slab.ts";
import { notify } from "../widgets/notice.ts";
import { heapRevision } from "../heap/state.ts";
import type { AboutResponse } from "../generated/responses.ts";
import { about, hasFamilyLeaks, hasOnlySiteLeaks } from "../state/about.ts";
import { beginWith, page, undecided } from "../state/page.ts";
import { FIRST_STATE } from "../state/url.ts";

const MIN_INTERVAL_MS = 1000;

/** Why there is nothing to show, if `about` was not answered. */
export const failure = signal<EngineError | null>(null);

/** `memtrail view` does not answer any more. */
export const serverLost = signal(false);

/** Why recordings cannot be followed any more, by their index. */
export const lost = signal<ReadonlyMap<number, string>>(new Map());

/** A recording in which leak suspects are searched is begun with them: of one that grows, if it has snapshots. */
async function decideFirstView({ recordings }: AboutResponse): Promise<void> {
  const first = recordings[page.value.rec];
  if (first && first.state !== "growing" && hasOnlySiteLeaks(first)) return beginWith("siteleaks");
  if (first && first.state !== "growing" && hasFamilyLeaks(first, recordings)) return beginWith("familyleaks");
  if (!first?.trace || first.snapshots === 0) return beginWith(FIRST_STATE.view);
  const { snapshots } = await queryOnce({ query: "snapshots", rec: page.value.rec });
  // A file may have left all of them out.
  const any = snapshots.some((one) => one.included && one.readable);
  beginWith(any ? "leaks" : FIRST_STATE.view);
}

/** Asks what there is, then listens. */
export function begin(): void {
  let last = 0;
  /** Recordings that were seen to grow, and not yet to end. */
  const growing = new Set<number>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const refresh = async () => {
    timer = undefined;
    last = performance.now();
    try {
      const response = await queryOnce({ query: "about" });
      const before = about.value;
      if (!before) await decideFirstView(response);
      about.value = response;
      failure.value = null;
      response.recordings.forEach(({ state }, rec) => state === "growing" && growing.add(rec));
      // A page that connects gets events of what it has just read, too.
      if (before && JSON.stringify(before.recordings) !== JSON.stringify(response.recordings)) revision.value += 1;
    } catch (error) {
      undecided.value = false;
      if (about.value === null) failure.value = error instanceof EngineError ? error : new EngineError(String(error));
    }
  };
  const soon = () => {
    timer ??= setTimeout(refresh, Math.max(0, last + MIN_INTERVAL_MS - performance.now()));
  };
  void refresh();
  engine().listen((event) => {
    switch (event.kind) {
      case "connected":
        if (serverLost.value || about.value === null) soon();
        serverLost.value = false;
        break;
      case "disconnected":
        serverLost.value = true;
        break;
      case "lost":
        lost.value = new Map(lost.value).set(event.rec, event.why);
        soon();
        break;
      case "snapshot":
      case "analysed":
        heapRevision.value += 1;
        if (event.kind === "snapshot") soon();
        break;
      case "ended":
        // A page that connects hears of what ended before, too. What it knows by now may be that it ended.
        if (growing.delete(event.rec)) {
          notify(event.outcome ? `the recording has ended: ${event.outcome}` : "the recording has ended");
        }
        soon();
        break;
      default:
        soon();
    }
  });
}
