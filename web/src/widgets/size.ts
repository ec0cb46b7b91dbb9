/** The size of an element as it changes. */
import { useLayoutEffect, useState } from "preact/hooks";
import type { RefObject } from "preact";

export interface Size {
  /** CSS pixels. */
  width: number;
  height: number;
}

/** 0 × 0 until the element has been laid out. */
export function useSize(element: RefObject<HTMLElement | null>): Size {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const node = element.current;
    if (!node) return undefined;
    const read = () => {
      const { clientWidth: width, clientHeight: height } = node;
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    read();
    const observer = new ResizeObserver(read);
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  return size;
}
