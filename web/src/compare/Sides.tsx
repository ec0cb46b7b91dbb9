/** What is compared with what, and how: selected here, kept in the URL. */
import type { ComponentChildren } from "preact";
import { checkOf } from "../filter/checks.ts";
import { about } from "../state/about.ts";
import { go, page, withParam } from "../state/page.ts";
import { Icon } from "../widgets/Icon.tsx";
import { present, sameSide, textOf, type Side } from "./sides.ts";

export function Sides({ before }: { before: Side }) {
  const after = present();
  const set = (side: Side): void => go({ more: withParam(page.value.more, "b", textOf(side)) });
  const swap = (): void =>
    go({ rec: before.rec, filter: before.filter, more: withParam(page.value.more, "b", textOf(after)) });
  return (
    <div class="compare-sides">
      <SideLine
        word="Before"
        side={before}
        name={<RecordingSelect side={before} onChoose={(rec) => set({ ...before, rec })} />}
      >
        <button
          type="button"
          class="button small plain"
          title="Hold further changes of the filter against what is shown now"
          disabled={sameSide(before, after)}
          onClick={() => set(after)}
        >
          Use the present filter
        </button>
        {before.filter.length > 0 && (
          <button type="button" class="button small plain" onClick={() => set({ ...before, filter: [] })}>
            No filter
          </button>
        )}
      </SideLine>
      <SideLine word="After" side={after} name={nameOf(after)}>
        <button
          type="button"
          class="icon-button small"
          title="Exchange the sides, for instance to change the other filter"
          aria-label="Exchange the sides"
          onClick={swap}
        >
          <Icon name="back" />
        </button>
      </SideLine>
    </div>
  );
}

/** The conditions of a side as words. */
export function filterInWords({ filter }: Side): string {
  const words = filter.map((text) => {
    const check = checkOf(text);
    return check && "description" in check ? check.description : text;
  });
  return words.length > 0 ? words.join(" and ") : "all memory";
}

export function nameOf({ rec }: Side): string {
  return about.value?.recordings[rec]?.name ?? `recording ${rec}`;
}

interface LineProps {
  word: string;
  side: Side;
  name: ComponentChildren;
  children: ComponentChildren;
}

function SideLine({ word, side, name, children }: LineProps) {
  const description = filterInWords(side);
  return (
    <div class="compare-side">
      <strong>{word}</strong>
      <span class="compare-side-name">{name}</span>
      <span class="clip quiet" title={description}>
        {description}
      </span>
      {children}
    </div>
  );
}

function RecordingSelect({ side, onChoose }: { side: Side; onChoose(rec: number): void }) {
  const recordings = about.value?.recordings ?? [];
  if (recordings.length < 2) return <>{nameOf(side)}</>;
  return (
    <select
      class="field small"
      aria-label="Recording before"
      value={String(side.rec)}
      onChange={(event) => onChoose(Number(event.currentTarget.value))}
    >
      {recordings.map(({ name }, rec) => (
        <option key={rec} value={String(rec)}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** Before anything was selected: what can be held against what is shown. */
export function Begin() {
  const after = present();
  const set = (side: Side): void => go({ more: withParam(page.value.more, "b", textOf(side)) });
  return (
    <div class="empty">
      <p class="empty-title">Compare with what?</p>
      <p>
        Keep what is shown now as “before”, then change the filter or the recording: the difference appears here. Or
        begin with the whole recording.
      </p>
      <p>
        <button type="button" class="button main" onClick={() => set(after)}>
          Keep this as “before”
        </button>{" "}
        {after.filter.length > 0 && (
          <button type="button" class="button" onClick={() => set({ rec: after.rec, filter: [] })}>
            Compare with all memory
          </button>
        )}
      </p>
    </div>
  );
}
