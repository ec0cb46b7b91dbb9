/** What there is to look at, in the order of the tabs. A new view is an import and a line here. */
import { compareView } from "./compare/Compare.tsx";
import { lifetimesView } from "./density/Density.tsx";
import { flameView } from "./flame/Flame.tsx";
import { infoView } from "./info/Info.tsx";
import { tablesView } from "./tables/Tables.tsx";
import { suspectsPanel } from "./suspects/Suspects.tsx";
import type { SidePanel, View } from "./shell/registry.ts";

export const views: readonly View[] = [flameView, tablesView, lifetimesView, compareView, infoView];

export const sidePanels: readonly SidePanel[] = [suspectsPanel];
