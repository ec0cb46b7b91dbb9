/** Roots: by what is attributed to each, by what each retains alone, or by what several retain jointly. */
import type { View } from "../../shell/registry.ts";
import { param } from "../../state/page.ts";
import { Segmented } from "../../widgets/Segmented.tsx";
import { Joint } from "./Joint.tsx";
import { Owners } from "./Owners.tsx";
import { Retained } from "./Retained.tsx";

const by = param("roots-by", "owner");

const BY = [
  { id: "owner", title: "Owners", what: "every reachable byte once, by the root that owns it" },
  { id: "root", title: "Retained", what: "what each root retains alone, and its parts" },
  { id: "joint", title: "Joint", what: "what several roots retain jointly, and what to cut to free it" },
];

function Roots() {
  const shown = BY.some(({ id }) => id === by.value) ? by.value : "owner";
  const switcher = <Segmented label="roots" options={BY} value={shown} onChoose={(id) => by.set(id)} />;
  if (shown === "joint") return <Joint switcher={switcher} />;
  return shown === "root" ? <Retained switcher={switcher} /> : <Owners switcher={switcher} />;
}

export const rootsView: View = {
  id: "roots",
  half: "heap",
  title: "Roots",
  what: "What each root owns",
  Component: Roots,
};
