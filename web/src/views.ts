/** What there is to look at, in the order of the tabs. A new view is an import and a line here. */
import { compareView } from "./compare/Compare.tsx";
import { lifetimesView } from "./density/Density.tsx";
import { flameView } from "./flame/Flame.tsx";
import { blockView } from "./heap/block/Block.tsx";
import { blocksView } from "./heap/blocks/Blocks.tsx";
import { changesView } from "./heap/Changes.tsx";
import { dominatorsView } from "./heap/Dominators.tsx";
import { containersView } from "./heap/Containers.tsx";
import { kindsView } from "./heap/Kinds.tsx";
import { whoView } from "./heap/join/Who.tsx";
import { whyView } from "./heap/join/Why.tsx";
import { familyLeaksView } from "./heap/leaks/FamilyLeaks.tsx";
import { leaksView, siteLeaksView } from "./heap/leaks/Leaks.tsx";
import { pathsView } from "./heap/paths/Paths.tsx";
import { rootsView } from "./heap/roots/Roots.tsx";
import { sitesView } from "./heap/Sites.tsx";
import { stackView } from "./heap/Stack.tsx";
import { stringsView } from "./heap/Strings.tsx";
import { survivorsView } from "./heap/Survivors.tsx";
import { infoView } from "./info/Info.tsx";
import { sourcePanel } from "./source/Source.tsx";
import { tablesView } from "./tables/Tables.tsx";
import { hotFragmentsPanel } from "./hotFragments/HotFragments.tsx";
import type { SidePanel, View } from "./shell/registry.ts";

export const views: readonly View[] = [
  flameView,
  tablesView,
  lifetimesView,
  compareView,
  siteLeaksView,
  familyLeaksView,
  infoView,
  leaksView,
  rootsView,
  dominatorsView,
  kindsView,
  containersView,
  blocksView,
  pathsView,
  stackView,
  changesView,
  survivorsView,
  sitesView,
  stringsView,
  whyView,
  whoView,
  blockView,
];

export const sidePanels: readonly SidePanel[] = [hotFragmentsPanel, sourcePanel];
