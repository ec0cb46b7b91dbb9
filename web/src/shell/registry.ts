/** The parts of the page that are interchangeable: views behind tabs, and panels at the side. */
import type { FunctionComponent } from "preact";

export interface View {
  /** In the URL: `view=flame`. */
  id: string;
  /** On the tab. */
  title: string;
  /** What it shows, for the tab's tooltip. */
  what: string;
  /** Fills its place; scrolls by itself. Mounted only while it is looked at. */
  Component: FunctionComponent;
}

export interface SidePanel {
  id: string;
  title: string;
  Component: FunctionComponent;
}
