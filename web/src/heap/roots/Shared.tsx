/** What two selected roots have to do with each other. */
import { bytes } from "../../text/units.ts";
import { useHeapQuery } from "../state.ts";

interface Named {
  node: string;
  name: string | null;
}

export function Shared({ a, b }: { a: Named; b: Named }) {
  const { response } = useHeapQuery({ query: "heapshared", a: a.node, b: b.node });
  if (!response) return null;
  return (
    <span class="clip" role="status">
      <strong>{a.name}</strong> and <strong>{b.name}</strong>{" "}
      {response.common > 0 ? `both reach ${bytes(response.common)}` : "reach nothing in common"}
    </span>
  );
}
