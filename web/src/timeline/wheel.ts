/** Zooming and moving with the wheel. */
import { useEffect, useRef } from "preact/hooks";
import type { RefObject } from "preact";
import { LEFT } from "./curves.ts";
import { zoomed, type Scale } from "./scale.ts";
import { zoomTo } from "./zoom.ts";

/** Ctrl and the wheel zoom around the pointer, Shift and the wheel move. */
export function useWheel(place: RefObject<HTMLElement | null>, scale: Scale, duration: number): void {
  const latest = useRef({ scale, duration });
  latest.current = { scale, duration };
  useEffect(() => {
    const node = place.current;
    if (!node) return undefined;
    const onWheel = (event: WheelEvent) => {
      const { scale, duration } = latest.current;
      if ((!event.ctrlKey && !event.metaKey && !event.shiftKey) || scale.width === 0) return;
      event.preventDefault();
      const delta = event.deltaY || event.deltaX;
      if (event.shiftKey) {
        const span = scale.to - scale.from;
        const from = Math.max(0, Math.min(duration - span, scale.from + (delta / scale.width) * span));
        zoomTo(from, from + span, "replace");
        return;
      }
      const x = event.clientX - node.getBoundingClientRect().left - LEFT;
      const center = scale.from + (Math.max(0, Math.min(scale.width, x)) / scale.width) * (scale.to - scale.from);
      const [from, to] = zoomed(scale, Math.exp(delta / 400), center, duration);
      zoomTo(from, to, "replace");
    };
    node.addEventListener("wheel", onWheel, { passive: false });
    return () => node.removeEventListener("wheel", onWheel);
  }, []);
}
