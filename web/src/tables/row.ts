/** What the engine answers to `table` and `branches`, as rows. */
import type { QueryResponse } from "../engine/slab.ts";
import type { ChangeStatus, RowName, TableResponse } from "../generated/responses.ts";

/** Bytes, blocks, seconds, and a share of 1. */
export interface Row extends RowName {
  readonly total: number;
  readonly self: number;
  readonly live: number;
  readonly blocks: number;
  readonly lifetime: number;
  readonly share: number;
  /** Its total in the baseline, and how it differs; null where nothing is compared. */
  readonly before: number | null;
  readonly status: ChangeStatus | null;
}

export function rowsOf({ rows, columns, statuses }: QueryResponse<TableResponse>): Row[] {
  const total = columns.numbers("total");
  const self = columns.numbers("self");
  const live = columns.numbers("live");
  const blocks = columns.numbers("blocks");
  const lifetime = columns.numbers("lifetime");
  const share = columns.numbers("share");
  const isCompared = statuses.length > 0;
  const before = isCompared ? columns.numbers("before") : [];
  const status = isCompared ? columns.numbers("status") : [];
  return rows.map((name, at) => ({
    ...name,
    total: total[at]!,
    self: self[at]!,
    live: live[at]!,
    blocks: blocks[at]!,
    lifetime: lifetime[at]!,
    share: share[at]!,
    before: before[at] ?? null,
    status: statuses[status[at] ?? -1] ?? null,
  }));
}
