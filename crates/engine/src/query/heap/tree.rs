//! Of the dominator tree and of paths from the roots.

use serde::Deserialize;

parameters! {
    /// What a node of the dominator tree alone retains.
    HeapChildren {
        /// Number of the recording, from 0.
        rec: u32,
        /// Its number in the recording; the last snapshot if absent.
        snapshot: Option<u64>,
        /// Id of the node, as responses give it.
        node: String,
        /// Column to sort by.
        sort: ChildSort,
        /// Whether the largest come first.
        descending: bool,
        /// Rows to leave out at the beginning.
        offset: usize,
        /// Maximum number of rows.
        limit: usize,
    }

    /// The dominator tree below a node as nested boxes.
    HeapTreemap {
        /// Number of the recording, from 0.
        rec: u32,
        /// Its number in the recording; the last snapshot if absent.
        snapshot: Option<u64>,
        /// Id of the node, as responses give it.
        node: String,
        /// Maximum number of boxes.
        limit: usize,
        /// Maximum depth of nested boxes.
        depth: usize,
    }

    /// Paths from the roots down, merged by shape.
    HeapFlame {
        /// Number of the recording, from 0.
        rec: u32,
        /// Its number in the recording; the last snapshot if absent.
        snapshot: Option<u64>,
        /// The node to start from.
        node: String,
        /// Only paths that lead to blocks of this kind.
        kind: Option<String>,
        /// Maximum number of boxes.
        limit: usize,
    }

    /// Paths from a root to a block, or to the blocks of a kind.
    HeapPath {
        /// Number of the recording, from 0.
        rec: u32,
        /// Its number in the recording; the last snapshot if absent.
        snapshot: Option<u64>,
        /// To this block …
        block: Option<u32>,
        /// … or to blocks of this kind.
        kind: Option<String>,
        /// Which paths.
        how: PathForm,
        /// Whether the steps inside one container are shown one by one.
        unfolded: bool,
        /// Maximum number of paths.
        limit: usize,
    }
}

defaults! {
    HeapChildren {
        rec: 0, snapshot: None, node: "all".into(), sort: ChildSort::Retained, descending: true,
        offset: 0, limit: 100,
    }
    HeapTreemap { rec: 0, snapshot: None, node: "all".into(), limit: 2000, depth: 8, }
    HeapFlame { rec: 0, snapshot: None, node: "all".into(), kind: None, limit: 2000, }
    HeapPath {
        rec: 0, snapshot: None, block: None, kind: None, how: PathForm::Shortest, unfolded: false,
        limit: 20,
    }
}

selections! {
    /// Columns of the dominator tree.
    ChildSort {
        /// Bytes that would be freed without it.
        Retained,
        /// Own size.
        Bytes,
        /// Number of blocks.
        Blocks,
        /// Alphabetically.
        Name,
    }

    /// Which paths to a block.
    PathForm {
        /// One over as few shared blocks as there can be.
        Shortest,
        /// Several that share no block.
        Disjoint,
        /// Those to all blocks of a kind, alike ones together.
        Merged,
    }
}
