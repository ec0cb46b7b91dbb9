/** The parts of the page that are interchangeable: views behind tabs, and panels at the side. */
import type { FunctionComponent } from "preact";

export type Half = "allocations" | "heap";

export interface View {
  /** In the URL: `view=flame`. */
  id: string;
  /** What it is about: what was allocated, or snapshots of the heap. */
  half: Half;
  /** On the tab. */
  title: string;
  /** What it shows, for the tab's tooltip. */
  what: string;
  /** Fills its place; scrolls by itself. Mounted only while it is looked at. */
  Component: FunctionComponent;
  /** Whether there is anything for it to show; absent for those that always have. */
  applies?(): boolean;
}

export interface SidePanel {
  id: string;
  title: string;
  Component: FunctionComponent;
  /** Whether there is anything for it to show; absent for those that always have. */
  applies?(): boolean;
}
