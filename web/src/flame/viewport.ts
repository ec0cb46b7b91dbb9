/**
 * The part of a flame graph that is on the screen: a stretch of the width, in shares of the focus
 * (0 to 1), and a first row. Pure arithmetic; who draws and who listens to the mouse is elsewhere.
 */

export interface Viewport {
  /** Left and right edge, shares of the whole width, `from < to`. */
  readonly from: number;
  readonly to: number;
  /** The row at the top edge, with a fraction while scrolling. */
  readonly top: number;
}

/** Narrower than this a stretch is not shown: a 64-bit float still distinguishes its pixels. */
const NARROWEST = 1e-9;

export const WHOLE_WIDTH = { from: 0, to: 1 } as const;

/** How much of what there is fits the screen, in rows. */
export interface Window {
  readonly rows: number;
  readonly visible: number;
  /** Where fewer rows than fit stand: flames on the floor, icicles under the ceiling. */
  readonly floor: boolean;
}

/** `view` moved and shrunk so that it stands within the width and within the rows. */
export function clamp(view: Viewport, { rows, visible, floor }: Window): Viewport {
  const width = Math.min(1, Math.max(NARROWEST, view.to - view.from));
  const from = Math.min(1 - width, Math.max(0, view.from));
  const spare = rows - visible;
  const top = spare > 0 ? Math.min(spare, Math.max(0, view.top)) : floor ? spare : 0;
  return { from, to: from + width, top };
}

/** Zooms by `factor` (above 1 is nearer) so that what is at share `at` of the screen stays there. */
export function zoomAbout(view: Viewport, at: number, factor: number): Viewport {
  const width = view.to - view.from;
  const fixed = view.from + at * width;
  const narrowed = Math.min(1, Math.max(NARROWEST, width / factor));
  const from = Math.min(1 - narrowed, Math.max(0, fixed - at * narrowed));
  return { from, to: from + narrowed, top: view.top };
}

/** Moves by a share of the screen's width and by rows. */
export function pan(view: Viewport, screens: number, rows: number): Viewport {
  const width = view.to - view.from;
  const from = Math.min(1 - width, Math.max(0, view.from + screens * width));
  return { from, to: from + width, top: view.top + rows };
}

/** The viewport between two others; widths change by ratio, so that speed looks even. */
export function between(a: Viewport, b: Viewport, progress: number): Viewport {
  if (progress >= 1) {
    return b;
  }
  const eased = 1 - (1 - progress) ** 3;
  const widthA = a.to - a.from;
  const widthB = b.to - b.from;
  const width = widthA * (widthB / widthA) ** eased;
  // The point that both show at the same place of the screen stays there all the way.
  const fixed = widthA === widthB ? null : (a.from * widthB - b.from * widthA) / (widthB - widthA);
  const from = fixed === null ? a.from + (b.from - a.from) * eased : fixed + ((a.from - fixed) * width) / widthA;
  return { from, to: from + width, top: a.top + (b.top - a.top) * eased };
}

/** The smallest change of `top` that brings a row into view, with a row of margin. */
export function reveal(view: Viewport, row: number, visibleRows: number): Viewport {
  const margin = visibleRows > 4 ? 1 : 0;
  const lowest = row + 1 + margin - visibleRows;
  const highest = row - margin;
  const top = Math.min(Math.max(view.top, lowest), highest);
  return top === view.top ? view : { ...view, top };
}

/** The smallest shift that brings a stretch into view; zooms out where it is wider than the view,
 *  and in where it would be narrower than `least` of the screen. */
export function revealStretch(view: Viewport, from: number, to: number, least: number): Viewport {
  const width = view.to - view.from;
  const stretch = to - from;
  if (stretch >= width) {
    return from <= view.from && to >= view.to ? view : { ...view, from, to };
  }
  if (stretch < least * width && stretch > 0) {
    const near = Math.max(NARROWEST, Math.min(width, stretch / least));
    const start = Math.min(1 - near, Math.max(0, (from + to - near) / 2));
    return { ...view, from: start, to: start + near };
  }
  const start = Math.min(Math.max(view.from, to - width), from);
  return start === view.from ? view : { ...view, from: start, to: start + width };
}
