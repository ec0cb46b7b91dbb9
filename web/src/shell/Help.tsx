/** The overlay that lists every key that works just now. */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../widgets/Icon.tsx";
import { groups, type Key } from "./keys.ts";

export const helpOpen = signal(false);

const signs: Readonly<Record<string, string>> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
};

/** `Shift+ArrowLeft` as it stands on keyboards. */
function caption(key: string): string {
  if (key.length === 1) return key;
  return key
    .split("+")
    .map((part) => signs[part] ?? part)
    .join(" ");
}

/** Groups that come first, in this order. */
const FIRST = ["Page", "Timeline", "Filter", "Views"];

/** Keys by group; a part of the page may add to another's. */
function sections(): [name: string, keys: Key[]][] {
  const found = new Map<string, Key[]>(FIRST.map((name) => [name, []]));
  for (const { name, keys } of groups.value) found.set(name, [...(found.get(name) ?? []), ...keys]);
  return [...found].filter(([, keys]) => keys.length > 0);
}

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = helpOpen.value;
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog
      class="overlay"
      ref={dialog}
      aria-label="keys"
      onClose={() => (helpOpen.value = false)}
      onClick={(event) => event.target === dialog.current && (helpOpen.value = false)}
      onKeyDown={(event) => {
        if (event.key === "?") {
          event.preventDefault();
          helpOpen.value = false;
        }
      }}
    >
      {open && (
        <>
          <header>
            <span class="grow">Keys</span>
            <button
              type="button"
              class="icon-button"
              title="close (Esc)"
              aria-label="close"
              onClick={() => (helpOpen.value = false)}
            >
              <Icon name="close" />
            </button>
          </header>
          <div class="keys">
            {sections().map(([name, keys]) => (
              <section key={name}>
                <h3>{name}</h3>
                <dl>
                  {keys.map((key) => (
                    <div key={key.keys}>
                      <dt>
                        {key.keys.split(" ").map((one) => (
                          <kbd key={one}>{caption(one)}</kbd>
                        ))}
                      </dt>
                      <dd>{key.does}</dd>
                    </div>
                  ))}
                </dl>
              </section>
            ))}
          </div>
        </>
      )}
    </dialog>
  );
}
