/** What of the baseline passed through the same calls as a box. */
import { useEffect, useState } from "preact/hooks";
import { selectedBaseline, textOf } from "../compare/sides.ts";
import { useQuery } from "../engine/useQuery.ts";
import { estimatedBytes as bytes } from "../state/estimates.ts";
import { extended } from "./focusing.ts";
import type { Box } from "./rows.ts";
import type { Shown } from "./shown.ts";
import { recursionOf } from "./trees.ts";

/** Boxes that the mouse passes are not asked about. */
const PATIENCE_MS = 150;

/** In bytes, as text; null without a baseline or a box, or as long as it is not known. */
export function useBytesBefore(shown: Shown | null, box: Box | null): string | null {
  const side = selectedBaseline();
  const [path, setPath] = useState<readonly string[] | null>(null);
  useEffect(() => {
    setPath(null);
    if (!side || !shown || !box) return undefined;
    let over = false;
    const timer = setTimeout(() => {
      void extended(shown.scene, shown.focus, shown.names, box).then((found) => over || setPath(found));
    }, PATIENCE_MS);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [side && textOf(side), shown, box?.part, box?.at]);
  const { response, error, fresh } = useQuery(
    side && path
      ? {
          query: "flame",
          ...side,
          focus: path,
          direction: "callees",
          recursion: recursionOf(),
          cutoff: 1,
          limit: 1,
        }
      : null,
  );
  if (!path) return null;
  // A function that the other recording does not know allocated nothing there.
  if (error) return bytes(0);
  return fresh && response ? bytes(response.focus_bytes) : null;
}
