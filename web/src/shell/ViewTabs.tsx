/** The tabs, and the view behind the selected one. */
import { waiting } from "../engine/useQuery.ts";
import { Analysing } from "../heap/Analysing.tsx";
import { NoSnapshot } from "../heap/NoSnapshot.tsx";
import { snapshot } from "../heap/state.ts";
import { go } from "../state/page.ts";
import { sidePanels } from "../views.ts";
import { ErrorBoundary } from "../widgets/ErrorBoundary.tsx";
import { Icon } from "../widgets/Icon.tsx";
import { half, offered, shownView } from "./halves.ts";
import { useKeys } from "./keys.ts";
import { sideOpen } from "./Side.tsx";
import { Totals } from "./Totals.tsx";

export function ViewTabs() {
  const views = offered.value;
  const shown = shownView.value;
  const allocations = half.value === "allocations";
  useKeys(
    "Views",
    views.map(({ id, title }, index) => ({
      keys: String(index + 1),
      does: title.toLowerCase(),
      run: () => go({ view: id }),
    })),
  );
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
              title={`${what} (${index + 1})`}
              onClick={() => go({ view: id })}
            >
              {title}
            </button>
          ))}
        </div>
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
