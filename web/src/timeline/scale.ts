/** Time against pixels: the one scale that the plot, its lanes and their keys share. */

export interface Scale {
  /** Seconds since the start, at the left and at the right edge. */
  from: number;
  to: number;
  /** CSS pixels between them. */
  width: number;
}

export function xOf(scale: Scale, time: number): number {
  const span = scale.to - scale.from;
  return span > 0 ? ((time - scale.from) / span) * scale.width : 0;
}

export function timeAt(scale: Scale, x: number): number {
  const share = scale.width > 0 ? Math.max(0, Math.min(1, x / scale.width)) : 0;
  return scale.from + share * (scale.to - scale.from);
}

/** Seconds that a pixel stands for. */
export function step(scale: Scale): number {
  return scale.width > 0 ? (scale.to - scale.from) / scale.width : 0;
}

/** A time with no more decimals than a pixel can tell: a drag to 12.3 s is not 12.304817 s. */
export function rounded(time: number, resolution: number): number {
  if (!(resolution > 0)) return time;
  const places = Math.max(0, Math.min(6, -Math.floor(Math.log10(resolution))));
  return Number(time.toFixed(places));
}

/** Zooms by `factor` (< 1 shows less) around `center`, within the recording. */
export function zoomed(scale: Scale, factor: number, center: number, duration: number): [from: number, to: number] {
  const least = Math.max(duration / 1e5, 1e-6);
  const span = Math.max(least, Math.min(duration, (scale.to - scale.from) * factor));
  const share = (center - scale.from) / (scale.to - scale.from || 1);
  const from = Math.max(0, Math.min(duration - span, center - share * span));
  return [from, from + span];
}
