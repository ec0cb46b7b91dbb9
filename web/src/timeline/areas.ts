/** The areas of memory in the plot: those of OCaml's heap, or those of a program that frees its memory itself. */
import { recording } from "../state/about.ts";

export interface Area {
  area: "minor" | "external" | "major";
  name: string;
}

const OF_OCAML: readonly Area[] = [
  { area: "minor", name: "minor" },
  { area: "external", name: "external" },
  { area: "major", name: "major" },
];
/** Their blocks have the sources that stand for these. */
const OF_NATIVE: readonly Area[] = [
  { area: "external", name: "mapped" },
  { area: "major", name: "malloc" },
];

export const areas = (): readonly Area[] => (recording.value?.is_native ? OF_NATIVE : OF_OCAML);
