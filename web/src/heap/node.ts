/** What a response calls a node of the dominator tree: `all`, `kind:stack`, `label:7`, `block:123`, `group:block:123/tag 0, 2 fields`. */
export type NodeId = string;
