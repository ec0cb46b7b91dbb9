/** What is under the mouse, or selected, in figures. */
import { useBytesBefore } from "./before.ts";
import type { Facts } from "./facts.ts";
import type { Box } from "./rows.ts";
import type { Shown } from "./shown.ts";

export function FactsCard({ facts, shown, box }: { facts: Facts | null; shown: Shown | null; box: Box }) {
  const before = useBytesBefore(shown, box);
  if (!facts) return null;
  return (
    <>
      <div class="flame-card-name">
        {facts.kind === "site" && <span class="flame-site-mark">allocation site</span>}
        {facts.name}
      </div>
      {(facts.module ?? facts.place) && (
        <div class="quiet">
          {facts.module}
          {facts.module && facts.place && " · "}
          {facts.place}
        </div>
      )}
      <dl>
        <div>
          <dt>allocated</dt>
          <dd>{facts.size}</dd>
        </div>
        {before !== null && (
          <div>
            <dt>before</dt>
            <dd>{before}</dd>
          </div>
        )}
        {facts.when !== null && (
          <div>
            <dt>between</dt>
            <dd>{facts.when}</dd>
          </div>
        )}
        <div>
          <dt>of the selection</dt>
          <dd>{facts.ofTotal}</dd>
        </div>
        <div>
          <dt>of the focus</dt>
          <dd>{facts.ofFocus}</dd>
        </div>
        {facts.blocks !== null && (
          <div>
            <dt>blocks</dt>
            <dd>{facts.blocks}</dd>
          </div>
        )}
        {facts.lifetime !== null && (
          <div>
            <dt>mean lifetime</dt>
            <dd>{facts.lifetime}</dd>
          </div>
        )}
      </dl>
    </>
  );
}
