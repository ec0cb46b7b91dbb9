/** The panel at the side of the views: points of interest. It can be resized and put away. */
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { sidePanels } from "../views.ts";
import { ErrorBoundary } from "../widgets/ErrorBoundary.tsx";
import { Icon } from "../widgets/Icon.tsx";
import { Segmented } from "../widgets/Segmented.tsx";
import { Splitter } from "../widgets/Splitter.tsx";

const NARROW = 1100;
export const sideOpen = signal(innerWidth >= NARROW);
const width = signal(Math.round(Math.min(380, Math.max(250, innerWidth * 0.2))));

export function Side() {
  const [shown, setShown] = useState(sidePanels[0]?.id ?? "");
  const panel = sidePanels.find(({ id }) => id === shown) ?? sidePanels[0];
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
        {sidePanels.length > 1 ? (
          <Segmented label="side panel" options={sidePanels} value={panel.id} onChoose={setShown} />
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
