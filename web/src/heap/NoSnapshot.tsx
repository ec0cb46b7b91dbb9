/** In place of a view of the heap as long as there is no snapshot. */
import { recording } from "../state/about.ts";
import { Empty, ErrorMessage } from "../widgets/State.tsx";
import { snapshotsError } from "./state.ts";

export function NoSnapshot() {
  if (snapshotsError.value) return <ErrorMessage error={snapshotsError.value} />;
  // They are being read.
  if ((recording.value?.snapshots ?? 0) > 0) return null;
  return (
    <Empty title="There is no snapshot yet">
      <p>The button above asks the program for one; so does memtrail snapshot.</p>
    </Empty>
  );
}
