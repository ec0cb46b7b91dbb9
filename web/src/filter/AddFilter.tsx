/** The menu of conditions, then the form of the selected one. A condition can also be typed as text. */
import { signal } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import { addCondition } from "../state/filter.ts";
import { useFirstFocus } from "../widgets/focus.ts";
import { Icon } from "../widgets/Icon.tsx";
import { Popover } from "../widgets/Popover.tsx";
import { checkOf, whenChecked } from "./checks.ts";
import { ConditionForm } from "./ConditionForm.tsx";
import { newDraft } from "./draft.ts";
import { KINDS, type Key, type Kind } from "./kinds.ts";

export const addOpen = signal(false);

export function AddFilter() {
  return (
    <Popover
      class="button small"
      title="add a filter (f)"
      aria-label="add a filter"
      open={addOpen}
      label={
        <>
          <Icon name="plus" /> Filter
        </>
      }
    >
      {(close) => <Steps close={close} />}
    </Popover>
  );
}

function Steps({ close }: { close(): void }) {
  const [key, setKey] = useState<Key | null>(null);
  const done = (condition: string) => {
    addCondition(condition);
    close();
  };
  if (key === null) return <Menu onKind={setKey} onCondition={done} />;
  return <ConditionForm key={key} draft={newDraft(key)} action="Add" onDone={done} onCancel={close} />;
}

function Menu({ onKind, onCondition }: { onKind(key: Key): void; onCondition(condition: string): void }) {
  const [text, setText] = useState("");
  const root = useRef<HTMLDivElement>(null);
  useFirstFocus(root);
  const isText = text.includes(":");
  const check = isText ? checkOf(text.trim()) : null;
  const wanted = text.trim().toLowerCase();
  const found = isText
    ? []
    : KINDS.filter(({ title, what, key }) => `${title} ${what} ${key}`.toLowerCase().includes(wanted));
  const groups = [...new Set(found.map(({ group }) => group))];
  const [only] = found;
  // Enter may come before the engine has said what the text is.
  const take = async () => {
    const said = await whenChecked(text.trim());
    if ("canonical" in said) onCondition(said.canonical);
  };
  return (
    <div class="condition-menu" ref={root}>
      <input
        class="field"
        aria-label="condition, by name or as text"
        placeholder="live, size, in:~List …"
        data-first
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") {
            event.preventDefault();
            focusNext(event.currentTarget.closest(".condition-menu"), -1, 1);
          }
          if (event.key !== "Enter") return;
          event.preventDefault();
          if (isText) void take();
          else if (only) onKind(only.key);
        }}
      />
      {check && "error" in check && (
        <p class="condition-preview wrong">
          {check.error.message}
          {check.error.hint && <small class="quiet">{check.error.hint}</small>}
        </p>
      )}
      {check && "canonical" in check && (
        <button type="button" class="menu-item" onClick={() => onCondition(check.canonical)}>
          {check.description} <kbd>Enter</kbd>
        </button>
      )}
      {groups.map((group) => (
        <div key={group} role="group" aria-label={group}>
          <p class="menu-title">{group}</p>
          {found
            .filter((kind) => kind.group === group)
            .map((kind) => (
              <Item key={kind.key} kind={kind} onKind={onKind} />
            ))}
        </div>
      ))}
    </div>
  );
}

function Item({ kind, onKind }: { kind: Kind; onKind(key: Key): void }) {
  return (
    <button
      type="button"
      class="menu-item"
      onClick={() => onKind(kind.key)}
      onKeyDown={(event) => {
        const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
        if (step === 0) return;
        event.preventDefault();
        const menu = event.currentTarget.closest(".condition-menu");
        const items = [...(menu?.querySelectorAll(".menu-item") ?? [])];
        focusNext(menu, items.indexOf(event.currentTarget), step);
      }}
    >
      <span>{kind.title}</span>
      <small>{kind.what}</small>
    </button>
  );
}

/** The item after or before that one; before the first is the text field. */
function focusNext(menu: Element | null, index: number, step: number): void {
  const items = [...(menu?.querySelectorAll<HTMLElement>(".menu-item") ?? [])];
  const next = items[index + step];
  if (next) next.focus();
  else if (step < 0) menu?.querySelector("input")?.focus();
}
