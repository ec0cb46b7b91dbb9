/** Shows the source of what is selected in the panel at the side. */
import { showWide, sideOpen, sidePanel } from "../shell/sidePanels.ts";
import { about } from "../state/about.ts";
import { SOURCE, type Place } from "./place.ts";

export function SourceButton({ at }: { at: Place | null }) {
  if (!about.value?.sources || !at || (sideOpen.value && sidePanel.value === SOURCE)) return null;
  return (
    <button
      type="button"
      class="button small plain"
      title="its source, with what each line allocates"
      onClick={() => showWide(SOURCE)}
    >
      Source
    </button>
  );
}
