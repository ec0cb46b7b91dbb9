/** A button that opens a small panel. Esc, a click elsewhere, or leaving with Tab closes it. */
import { autoUpdate, computePosition, flip, offset, shift, size } from "@floating-ui/dom";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";

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

/** CSS pixels between the panel and the button, and the panel and the window's edge. */
const GAP = 4;
const EDGE = 8;

export function Popover({ label, title, children, align = "start", open: outside, ...rest }: Props) {
  const [inside, setInside] = useState(false);
  const open = outside ? outside.value : inside;
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const id = useId();
  const setOpen = (next: boolean) => {
    if (outside) outside.value = next;
    else setInside(next);
  };
  const close = () => {
    panel.current?.hidePopover();
    // The panel's event comes later: a key in between would find it still open.
    setOpen(false);
    button.current?.focus();
  };

  useLayoutEffect(() => {
    const [box, anchor] = [panel.current, button.current];
    if (!box || !anchor) return undefined;
    if (box.matches(":popover-open") !== open) box.togglePopover(open);
    return open ? autoUpdate(anchor, box, () => void place(anchor, box, align)) : undefined;
  }, [open, align]);
  useEffect(() => {
    const box = panel.current;
    if (open && box && !box.contains(document.activeElement)) {
      box.querySelector<HTMLElement>("input, select, button, a[href]")?.focus();
    }
  }, [open]);

  return (
    <span class="popover">
      <button
        type="button"
        ref={button}
        class={rest.class ?? "button"}
        title={title}
        aria-label={rest["aria-label"] ?? title}
        aria-haspopup="dialog"
        aria-expanded={open}
        popovertarget={id}
      >
        {label}
      </button>
      <div
        class="popover-panel"
        id={id}
        ref={panel}
        popover="auto"
        role="dialog"
        aria-label={title}
        onToggle={({ newState }) => setOpen(newState === "open")}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          event.stopPropagation();
          close();
        }}
        onFocusOut={({ currentTarget, relatedTarget }) => {
          if (!(relatedTarget instanceof Node)) return;
          if (!currentTarget.contains(relatedTarget) && relatedTarget !== button.current) currentTarget.hidePopover();
        }}
      >
        {open && children(close)}
      </div>
    </span>
  );
}

/** Keeps the panel inside the window, below the button or else above it. */
async function place(anchor: HTMLElement, box: HTMLElement, align: "start" | "end"): Promise<void> {
  const { x, y } = await computePosition(anchor, box, {
    strategy: "fixed",
    placement: `bottom-${align}`,
    middleware: [
      offset(GAP),
      flip({ padding: EDGE, fallbackStrategy: "bestFit" }),
      shift({ padding: EDGE }),
      size({
        padding: EDGE,
        apply: ({ availableHeight }) => {
          box.style.maxHeight = `${Math.max(0, availableHeight)}px`;
        },
      }),
    ],
  });
  box.style.left = `${x}px`;
  box.style.top = `${y}px`;
}
