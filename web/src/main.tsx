/** Where the page begins. */
import "./style.css";
import { render } from "preact";
import { setEngine } from "./engine/asking.ts";
import { HttpEngine } from "./engine/http.ts";
import { isOffline, OfflineEngine } from "./engine/offline.ts";
import { begin } from "./live/live.ts";
import { listenToKeys } from "./shell/keys.ts";
import { Page } from "./shell/Page.tsx";
import { followTheme } from "./shell/theme.ts";
import { followUrl } from "./state/page.ts";

setEngine(isOffline() ? new OfflineEngine() : new HttpEngine());
followTheme();
followUrl();
listenToKeys();
const place = document.getElementById("page");
if (place) {
  place.replaceChildren();
  render(<Page />, place);
}
begin();
