/** Where the page begins. */
import "./style.css";
import { effect } from "@preact/signals";
import { render } from "preact";
import { pending, setEngine } from "./engine/useQuery.ts";
import { HttpEngine } from "./engine/http.ts";
import { firstView, isOffline, OfflineEngine } from "./engine/offline.ts";
import { begin, failure } from "./live/live.ts";
import { listenToKeys } from "./shell/keys.ts";
import { Page } from "./shell/Page.tsx";
import { followTheme } from "./shell/theme.ts";
import { about, recording } from "./state/about.ts";
import { followUrl } from "./state/page.ts";

setEngine(isOffline() ? new OfflineEngine() : new HttpEngine());
followTheme();
followUrl(firstView());
listenToKeys();
const place = document.getElementById("page");
if (place) {
  place.replaceChildren();
  render(<Page />, place);
}
begin();
// For tests and tools that drive the page: it has what it needs, and nothing is being asked.
effect(() => {
  document.documentElement.toggleAttribute("data-ready", about.value !== null || failure.value !== null);
  document.documentElement.toggleAttribute("data-busy", pending.value > 0);
});
effect(() => {
  const run = recording.value;
  document.title = run ? `${run.name} – memtrail` : "memtrail";
});
