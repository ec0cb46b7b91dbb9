/** Roots: by what is attributed to each, or by what each retains alone. */
import type { View } from "../../shell/registry.ts";
import { param } from "../../state/page.ts";
import { Segmented } from "../../widgets/Segmented.tsx";
import { Owners } from "./Owners.tsx";
import { Retained } from "./Retained.tsx";

const by = param("roots-by", "owner");

const BY = [
  { id: "owner", title: "Owners", what: "every reachable byte once, by the root that owns it" },
  { id: "root", title: "Retained", what: "what each root retains alone, and its parts" },
];

function Roots() {
  const retained = by.value === "root";
  const switcher = (
    <Segmented label="roots" options={BY} value={retained ? "root" : "owner"} onChoose={(id) => by.set(id)} />
  );
  return retained ? <Retained switcher={switcher} /> : <Owners switcher={switcher} />;
}

export const rootsView: View = {
  id: "roots",
  half: "heap",
  title: "Roots",
  what: "What each root owns",
  Component: Roots,
};
