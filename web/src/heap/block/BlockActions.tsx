/** What can be done with the row of a block: its page, who allocated what it retains, its owner. */
import { WhoBelowButton } from "../join/Buttons.tsx";
import { openBlock, openNode } from "../state.ts";

interface Props {
  row: { readonly block: number; readonly owner: string | null; readonly owner_node: string | null };
}

export function BlockActions({ row: { block, owner, owner_node } }: Props) {
  return (
    <>
      <button type="button" class="button small" title="Enter, or a double click" onClick={() => openBlock(block)}>
        The block
      </button>
      <WhoBelowButton node={`block:${block}`} />
      {owner_node !== null && (
        <button
          type="button"
          class="button small plain"
          title={`owned by ${owner}`}
          onClick={() => openNode(owner_node)}
        >
          Its owner
        </button>
      )}
    </>
  );
}
