/** The tabs, and the view behind the selected one. */
import { waiting } from "../engine/useQuery.ts";
import { Analysing } from "../heap/Analysing.tsx";
import { NoSnapshot } from "../heap/NoSnapshot.tsx";
import { snapshot } from "../heap/state.ts";
import { go } from "../state/page.ts";
import { sidePanels } from "../views.ts";
import { ErrorBoundary } from "../widgets/ErrorBoundary.tsx";
import { Icon } from "../widgets/Icon.tsx";
import { openMenu } from "../widgets/Menu.tsx";
import { half, offered, shownView } from "./halves.ts";
import { useKeys } from "./keys.ts";
import { sideOpen } from "./sidePanels.ts";
import { Totals } from "./Totals.tsx";

/** From this view on, letters stand for views in their list, and no key does outside of it. */
const LETTERS_FROM = 9;

/** The key of a view: `1` to `9`, then letters. */
const keyOf = (index: number): string =>
  index < LETTERS_FROM ? String(index + 1) : String.fromCharCode("a".charCodeAt(0) + index - LETTERS_FROM);

export function ViewTabs() {
  const views = offered.value;
  const shown = shownView.value;
  const allocations = half.value === "allocations";
  const listViews = (from: Element | null): void => {
    const place = from?.getBoundingClientRect();
    const items = views.map(({ id, title, what }, index) => ({
      key: keyOf(index),
      title,
      what,
      run: () => go({ view: id }),
    }));
    openMenu("Views", [items], { x: place?.left ?? 0, y: place?.bottom ?? 0 });
  };
  useKeys("Views", [
    ...views.slice(0, LETTERS_FROM).map(({ id, title }, index) => ({
      keys: keyOf(index),
      does: title.toLowerCase(),
      run: () => go({ view: id }),
    })),
    { keys: "v", does: "list of all views", run: () => listViews(document.getElementById(`tab-${shown?.id}`)) },
  ]);
  if (!shown) return null;
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = views[(views.indexOf(shown) + step + views.length) % views.length];
    if (!next) return;
    go({ view: next.id });
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <div class="views">
      <div class="tabs">
        <div role="tablist" aria-label="views" onKeyDown={move}>
          {views.map(({ id, title, what }, index) => (
            <button
              key={id}
              id={`tab-${id}`}
              type="button"
              role="tab"
              aria-selected={id === shown.id}
              aria-controls="view"
              tabIndex={id === shown.id ? 0 : -1}
              title={index < LETTERS_FROM ? `${what} (${keyOf(index)})` : `${what} (v, then ${keyOf(index)})`}
              onClick={() => go({ view: id })}
            >
              {title}
            </button>
          ))}
        </div>
        {views.length > LETTERS_FROM && (
          <button
            type="button"
            class="icon-button small"
            title="All views (v)"
            aria-label="All views"
            aria-haspopup="menu"
            onClick={(event) => listViews(event.currentTarget)}
          >
            <Icon name="chevron" />
          </button>
        )}
        <span class="grow" />
        {allocations ? <Totals /> : <Analysing />}
        {allocations && sidePanels.length > 0 && !sideOpen.value && (
          <button
            type="button"
            class="button plain small"
            title="show points of interest (p)"
            aria-label="show points of interest"
            onClick={() => (sideOpen.value = true)}
          >
            <Icon name="side" /> <span class="wide">Points of interest</span>
          </button>
        )}
      </div>
      <section class="view" id="view" role="tabpanel" aria-labelledby={`tab-${shown.id}`}>
        {waiting.value > 0 && <div class="busy" role="progressbar" aria-label="asking the engine" />}
        {allocations || snapshot.value ? (
          <ErrorBoundary key={shown.id}>
            <shown.Component />
          </ErrorBoundary>
        ) : (
          <NoSnapshot />
        )}
      </section>
    </div>
  );
}
