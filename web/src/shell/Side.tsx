/** The panel at the side of the views: points of interest. It can be resized and put away. */
import { sidePanels } from "../views.ts";
import { ErrorBoundary } from "../widgets/ErrorBoundary.tsx";
import { Icon } from "../widgets/Icon.tsx";
import { Segmented } from "../widgets/Segmented.tsx";
import { Splitter } from "../widgets/Splitter.tsx";
import { sideOpen, sidePanel, sideWidth as width } from "./sidePanels.ts";

export function Side() {
  const panels = sidePanels.filter(({ applies }) => applies?.() ?? true);
  const panel = panels.find(({ id }) => id === sidePanel.value) ?? panels[0];
  if (!sideOpen.value || !panel) return null;
  return (
    <aside class="side" style={{ width: `${width.value}px` }} aria-label={panel.title}>
      <Splitter
        label="width of the side panel"
        axis="upright"
        value={width.value}
        min={200}
        max={Math.max(200, innerWidth * 0.6)}
        reversed
        onChange={(next) => (width.value = next)}
      />
      <header>
        {panels.length > 1 ? (
          <Segmented label="side panel" options={panels} value={panel.id} onChoose={(id) => (sidePanel.value = id)} />
        ) : (
          <h2>{panel.title}</h2>
        )}
        <span class="grow" />
        <button
          type="button"
          class="icon-button"
          title="put away (p)"
          aria-label={`put ${panel.title} away`}
          onClick={() => (sideOpen.value = false)}
        >
          <Icon name="close" />
        </button>
      </header>
      <div class="side-body">
        <ErrorBoundary key={panel.id}>
          <panel.Component />
        </ErrorBoundary>
      </div>
    </aside>
  );
}
