/** The focus as a path: each step shortens it, the cross lets it go. */
import { go } from "../state/page.ts";
import { Icon } from "../widgets/Icon.tsx";
import { focusForUrl, labelOfKey, TOPLEVEL } from "./keys.ts";

/** Longer paths show their ends. */
const MAX_STEPS = 6;

export function FocusPath({ focus }: { focus: readonly string[] }) {
  const atToplevel = focus.length === 1 && focus[0] === TOPLEVEL;
  const hidden = focus.length > MAX_STEPS ? focus.length - MAX_STEPS : 0;
  return (
    <nav class="flame-focus" aria-label="Focus">
      <ol>
        {focus.map((key, at) =>
          hidden > 0 && at > 0 && at <= hidden ? (
            at === 1 && (
              <li key="hidden" class="faint" title={`${hidden} more functions`}>
                … {hidden} …
              </li>
            )
          ) : (
            <li key={`${at} ${key}`}>
              <button
                type="button"
                class="clip"
                title={at === focus.length - 1 ? key : `Back to ${labelOfKey(key)}`}
                aria-current={at === focus.length - 1 ? "true" : undefined}
                onClick={() => go({ focus: focusForUrl(focus.slice(0, at + 1)) })}
              >
                {labelOfKey(key)}
              </button>
            </li>
          ),
        )}
      </ol>
      {!atToplevel && (
        <button
          type="button"
          class="icon-button small"
          title="Whole program (Backspace)"
          aria-label="Leave the focus: whole program"
          onClick={() => go({ focus: [] })}
        >
          <Icon name="close" />
        </button>
      )}
    </nav>
  );
}
