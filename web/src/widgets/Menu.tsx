/** A context menu: at the mouse, or beside what the keyboard has selected. One is open at a time. */
import "./menu.css";
import { signal } from "@preact/signals";
import { computePosition, flip, shift } from "@floating-ui/dom";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface MenuItem {
  /** A letter that runs it while the menu is open. */
  key: string;
  title: string;
  /** More about it, as a tooltip. */
  what?: string;
  run(): void;
}

interface OpenMenu {
  /** What it is about. */
  title: string;
  /** With lines between groups. */
  groups: readonly (readonly MenuItem[])[];
  x: number;
  y: number;
  /** Gets the focus back. */
  from: Element | null;
}

const open = signal<OpenMenu | null>(null);
const EDGE = 8;

/** Whether a key press asks for the menu of what is selected. */
export const asksForMenu = (event: KeyboardEvent): boolean =>
  event.key === "m" || event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey);

/** Opens a menu at a point of the window. Groups without items are left out. */
export function openMenu(title: string, groups: OpenMenu["groups"], at: { x: number; y: number }): void {
  const some = groups.filter((group) => group.length > 0);
  if (some.length > 0) open.value = { title, groups: some, ...at, from: document.activeElement };
}

/** The menu that is open, if one is; drawn once in the page. */
export function Menu() {
  const menu = open.value;
  const panel = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const box = panel.current;
    if (!box || !menu) return;
    box.showPopover();
    const point = { getBoundingClientRect: () => DOMRect.fromRect({ x: menu.x, y: menu.y, width: 0, height: 0 }) };
    const middleware = [flip({ padding: EDGE }), shift({ padding: EDGE, crossAxis: true })];
    void computePosition(point, box, { strategy: "fixed", placement: "bottom-start", middleware }).then(({ x, y }) => {
      box.style.left = `${x}px`;
      box.style.top = `${y}px`;
    });
    box.querySelector<HTMLElement>("[role=menuitem]")?.focus();
  }, [menu]);
  if (!menu) return null;

  const close = (): void => {
    open.value = null;
    if (menu.from instanceof HTMLElement) menu.from.focus();
  };
  const choose = (item: MenuItem): void => {
    close();
    item.run();
  };
  const key = (event: KeyboardEvent): void => {
    const items = [...(panel.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    const step = steps[event.key];
    const named = menu.groups.flat().find((item) => item.key === event.key);
    event.stopPropagation();
    if (step !== undefined) items[(step + items.length) % items.length]?.focus();
    else if (event.key === "Escape" || event.key === "Tab") close();
    else if (named && !event.ctrlKey && !event.metaKey && !event.altKey) choose(named);
    else return;
    event.preventDefault();
  };
  return (
    <div
      class="popover-panel menu"
      ref={panel}
      popover="auto"
      role="menu"
      aria-label={menu.title}
      onKeyDown={key}
      onToggle={({ newState }) => {
        if (newState === "closed" && open.value === menu) open.value = null;
      }}
      onContextMenu={(event) => event.preventDefault()}
    >
      <div class="menu-title clip" aria-hidden="true">
        {menu.title}
      </div>
      {menu.groups.map((group, index) => (
        <div role="group" class="menu-group" key={index}>
          {group.map((item) => (
            <button
              key={item.key}
              type="button"
              class="menu-item"
              role="menuitem"
              tabIndex={-1}
              title={item.what}
              onClick={() => choose(item)}
            >
              <span class="grow">{item.title}</span>
              <kbd aria-hidden="true">{item.key}</kbd>
            </button>
          ))}
        </div>
      ))}
    </div>
  );
}
