/** Shown in place of a view when there is nothing to draw. */
import type { ComponentChildren } from "preact";
import type { EngineError } from "../engine/slab.ts";

/** The engine's error message, with what to do about it. */
export function ErrorMessage({ error, children }: { error: EngineError; children?: ComponentChildren }) {
  return (
    <div class="empty" role="alert">
      <p class="empty-title">{error.message}</p>
      {error.hint && <p>{error.hint}</p>}
      {children}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
