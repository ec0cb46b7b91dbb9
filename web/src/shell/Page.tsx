/** The page: header, timeline, filter, then the views with the panel at their side. */
import { ConditionBar } from "../filter/ConditionBar.tsx";
import { Strip } from "../heap/evolution/Strip.tsx";
import { useSnapshots } from "../heap/state.ts";
import { half, halves, switchTo } from "./halves.ts";
import { useKeys } from "./keys.ts";
import { toggleTheme } from "./theme.ts";
import { Header } from "./Header.tsx";
import { Help, helpOpen } from "./Help.tsx";
import { Side } from "./Side.tsx";
import { sideOpen } from "./sidePanels.ts";
import { ViewTabs } from "./ViewTabs.tsx";
import { undecided } from "../state/page.ts";
import { Timeline } from "../timeline/Timeline.tsx";
import { failure, serverLost } from "../live/live.ts";
import { Icon } from "../widgets/Icon.tsx";
import { Menu } from "../widgets/Menu.tsx";
import { ErrorMessage } from "../widgets/State.tsx";
import { notice } from "../widgets/notice.ts";

function Half({ allocations }: { allocations: boolean }) {
  return (
    <>
      {allocations ? <Timeline /> : <Strip />}
      {allocations && <ConditionBar />}
      <main class="main">
        {failure.value ? <ErrorMessage error={failure.value} /> : <ViewTabs />}
        {allocations && <Side />}
      </main>
    </>
  );
}

export function Page() {
  const allocations = half.value === "allocations";
  useSnapshots();
  useKeys("Page", [
    { keys: "?", does: "show or hide this list", run: () => (helpOpen.value = !helpOpen.value) },
    { keys: "t", does: "light or dark", run: toggleTheme },
    ...(allocations
      ? [{ keys: "p", does: "show or hide the panel at the side", run: () => (sideOpen.value = !sideOpen.value) }]
      : []),
    ...(halves.value.length > 1
      ? [{ keys: "g", does: "allocations or heap", run: () => switchTo(allocations ? "heap" : "allocations") }]
      : []),
  ]);
  return (
    <div class={allocations ? "page" : "page heap-half"}>
      <Header />
      {undecided.value ? <main class="main" /> : <Half allocations={allocations} />}
      <Help />
      <Menu />
      {serverLost.value && (
        <div class="lost" role="alert">
          <Icon name="warn" /> memtrail view does not answer. What is shown stays; it is tried again.
        </div>
      )}
      <div class="unseen" aria-live="polite">
        {notice.value}
      </div>
      {notice.value && (
        <div class="notice" aria-hidden="true">
          {notice.value}
        </div>
      )}
    </div>
  );
}
