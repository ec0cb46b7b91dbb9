/** What everything is compared with: selected once, it stays while the filter changes. */
import { about } from "../state/about.ts";
import { go, page } from "../state/page.ts";
import { Icon } from "../widgets/Icon.tsx";
import { filterInWords, nameOf } from "./Sides.tsx";
import { present, sameSide, selectedBaseline, withBaseline, type Side } from "./sides.ts";

export function Baseline() {
  const baseline = selectedBaseline();
  const set = (side: Side | null): void => go({ more: withBaseline(page.value.more, side) });
  if (!baseline) {
    return (
      <button
        type="button"
        class="button plain small"
        title="Compare with what is shown now, whatever the filter becomes: tables have a column for it"
        onClick={() => set(present())}
      >
        Keep as baseline
      </button>
    );
  }
  const several = (about.value?.recordings.length ?? 0) > 1;
  const words = several ? `${nameOf(baseline)}: ${filterInWords(baseline)}` : filterInWords(baseline);
  const shown = sameSide(baseline, present());
  const show = () => go({ rec: baseline.rec, filter: baseline.filter });
  return <Selected name={words} show={shown ? null : show} remove={() => set(null)} />;
}

interface Props {
  name: string;
  /** Shows it; null where it is shown, or cannot be. */
  show: (() => void) | null;
  remove(): void;
}

/** That something is compared with, and the ways to it and without it. */
export function Selected({ name, show, remove }: Props) {
  const title = `baseline: ${name}${show ? "; shows it" : ""}`;
  return (
    <span class="baseline">
      <button type="button" class="clip" title={title} disabled={!show} onClick={() => show?.()}>
        compared with {name}
      </button>
      <button type="button" class="condition-close" aria-label="remove the baseline" title="remove" onClick={remove}>
        <Icon name="close" />
      </button>
    </span>
  );
}
