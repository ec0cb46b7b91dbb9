/** A button that opens a small panel. Esc, a click elsewhere, or leaving with Tab closes it. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface Props {
  /** What the button shows. */
  label: ComponentChildren;
  /** The button's name for screen readers and its tooltip. */
  title: string;
  class?: string;
  /** Draws the panel; `close` gives the focus back to the button. */
  children: (close: () => void) => ComponentChildren;
  /** Which edge of the button the panel keeps to, where there is room. */
  align?: "start" | "end";
  /** Opened from outside, by a key. */
  open?: { value: boolean };
  "aria-label"?: string;
}

export function Popover({ label, title, children, align = "start", open: outside, ...rest }: Props) {
  const [inside, setInside] = useState(false);
  const open = outside ? outside.value : inside;
  const setOpen = (next: boolean) => {
    if (outside) outside.value = next;
    else setInside(next);
  };
  const root = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };

  useEffect(() => {
    if (!open) return undefined;
    const elsewhere = (event: Event) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", elsewhere, true);
    document.addEventListener("focusin", elsewhere);
    if (!panel.current?.contains(document.activeElement)) {
      panel.current?.querySelector<HTMLElement>("input, select, button, a[href]")?.focus();
    }
    return () => {
      document.removeEventListener("pointerdown", elsewhere, true);
      document.removeEventListener("focusin", elsewhere);
    };
  }, [open]);

  // The panel is kept inside the window, whatever it comes to hold.
  useLayoutEffect(() => {
    const [box, anchor] = [panel.current, button.current];
    if (!open || !box || !anchor) return undefined;
    const place = () => {
      const { left, right, bottom } = anchor.getBoundingClientRect();
      const wanted = align === "end" ? right - box.offsetWidth : left;
      box.style.left = `${Math.max(8, Math.min(wanted, innerWidth - box.offsetWidth - 8))}px`;
      box.style.top = `${bottom + 4}px`;
      box.style.maxHeight = `${innerHeight - bottom - 12}px`;
    };
    place();
    const observer = new ResizeObserver(place);
    observer.observe(box);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [open, align]);

  return (
    <span
      class="popover"
      ref={root}
      onKeyDown={(event) => {
        if (open && event.key === "Escape") {
          event.preventDefault();
          event.stopPropagation();
          close();
        }
      }}
    >
      <button
        type="button"
        ref={button}
        class={rest.class ?? "button"}
        title={title}
        aria-label={rest["aria-label"] ?? title}
        aria-haspopup="dialog"
        aria-expanded={open}
        onClick={() => (open ? close() : setOpen(true))}
      >
        {label}
      </button>
      {open && (
        <div class="popover-panel" ref={panel} role="dialog" aria-label={title}>
          {children(close)}
        </div>
      )}
    </span>
  );
}
