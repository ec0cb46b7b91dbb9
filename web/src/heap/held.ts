/** A variable's name with what it holds, where it has no name in the source and that is known. */
export function withHeld(name: string, holds: string | undefined): string {
  return holds === undefined ? name : `${name} (holds ${holds})`;
}
