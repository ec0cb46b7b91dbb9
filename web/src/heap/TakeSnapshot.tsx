/** The button that requests a heap snapshot of a running program, and the result. */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { engine } from "../engine/useQuery.ts";
import { EngineError } from "../engine/slab.ts";
import { recording } from "../state/about.ts";
import { rec } from "../state/page.ts";
import { Icon } from "../widgets/Icon.tsx";
import { notify } from "../widgets/notice.ts";
import { snapshots } from "./state.ts";

/** How many there were when one was asked for; null when none is awaited. */
const awaited = signal<{ rec: number; before: number } | null>(null);

/** A program that waits in a system call answers when it wakes. */
const PATIENCE_MS = 60_000;

export function TakeSnapshot() {
  const [refused, setRefused] = useState<EngineError | null>(null);
  const count = snapshots.value.length;
  const wait = awaited.value;
  const live = recording.value?.can_snapshot === true;
  useEffect(() => {
    if (!wait) return undefined;
    if (wait.rec !== rec.value || count > wait.before) {
      awaited.value = null;
      if (count > wait.before) notify(`snapshot ${snapshots.value.at(-1)?.number} is there`);
      return undefined;
    }
    const timer = setTimeout(() => {
      awaited.value = null;
      setRefused(new EngineError("the program has not answered yet", "it may be waiting in a system call"));
    }, PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [wait, count, rec.value]);
  if (!live && !wait) return null;
  const take = async (): Promise<void> => {
    setRefused(null);
    awaited.value = { rec: rec.value, before: count };
    try {
      await engine().takeSnapshot(rec.value);
    } catch (error) {
      awaited.value = null;
      setRefused(error instanceof EngineError ? error : new EngineError(String(error)));
    }
  };
  return (
    <>
      {refused && (
        <span class="refused" role="alert" title={refused.hint}>
          {refused.message}
        </span>
      )}
      <button
        type="button"
        class="button small main"
        disabled={wait !== null}
        title="the program pauses for about a millisecond"
        onClick={() => void take()}
      >
        <Icon name="camera" /> {wait ? "taking a snapshot …" : "Take a snapshot now"}
      </button>
    </>
  );
}
