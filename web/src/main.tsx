/** Where the page begins. */
import "./style.css";
import { render } from "preact";
import type { About } from "./engine/answers.ts";
import { askOnce, setEngine } from "./engine/asking.ts";
import { HttpEngine } from "./engine/http.ts";
import { listenToKeys } from "./shell/keys.ts";
import { Page } from "./shell/Page.tsx";
import { followTheme } from "./shell/theme.ts";
import { about } from "./state/about.ts";
import { followUrl } from "./state/page.ts";

setEngine(new HttpEngine());
followTheme();
followUrl();
listenToKeys();
const place = document.getElementById("page");
if (place) {
  place.replaceChildren();
  render(<Page />, place);
}
askOnce<About>({ ask: "about" }).then((answer) => {
  about.value = answer;
});
