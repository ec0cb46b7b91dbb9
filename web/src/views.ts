/** What there is to look at, in the order of the tabs. A new view is an import and a line here. */
import { infoView } from "./info/Info.tsx";
import type { SidePanel, View } from "./shell/registry.ts";

export const views: readonly View[] = [infoView];

export const sidePanels: readonly SidePanel[] = [];
