/** For tests: `crates/profile/tests/conditions.json`, which the engine's tests hold to what it says of each text. */
import examples from "../../../crates/profile/tests/conditions.json" with { type: "json" };
import type { ConditionCheck, ConditionForm } from "../generated/responses.ts";
import { answer } from "./checks.ts";

interface Example {
  text: string;
  canonical?: string;
  condition?: ConditionForm;
  description?: string;
  error?: { at: number; message: string };
}

export const all = examples as Example[];

/** Answers for each of them, as the engine would. */
export function answerAll(): void {
  for (const { text, error, ...valid } of all) {
    answer(text, error ? { error: { ...error, hint: null } } : (valid as ConditionCheck));
  }
}
