//! What can be asked of heap snapshots. All of it is about one snapshot, the last if none is named;
//! sizes are bytes. A `node` is text: `all`, `kind:stack`, `label:7`, `block:123`, or
//! `group:NODE/KIND›KIND…`, the blocks of a kind below a node.

use serde::Deserialize;

use super::profile::By;

queries! {
    /// A query about heap snapshots.
    HeapQuery {
        /// What heap snapshots there are.
        Snapshots,
        /// What was alive over time.
        Evolution,
        /// What grew from each snapshot to the next.
        HeapGrowth,
        /// Roots, by what they retain.
        HeapRoots,
        /// All that is reachable, by the root that it is attributed to.
        HeapOwners,
        /// What several roots retain jointly.
        HeapJoint,
        /// Hash tables, maps, arrays and the like.
        HeapContainers,
        /// How much there is of each kind of block.
        HeapHistogram,
        /// What a node of the dominator tree alone retains.
        HeapChildren,
        /// The dominator tree as nested boxes.
        HeapTreemap,
        /// Paths from the roots down, merged by shape.
        HeapFlame,
        /// A block with its references, and where it was allocated.
        HeapBlock,
        /// Paths from a root to blocks.
        HeapPath,
        /// What each stack frame retains.
        HeapStack,
        /// What two roots reach in common, and each alone.
        HeapShared,
        /// Strings that are there several times.
        HeapStrings,
        /// What changed between two snapshots.
        HeapDiff,
        /// The places in the program whose blocks retain most.
        HeapSamples,
        /// What retains what a function allocated.
        HeapWhy,
        /// Which calls allocated what a root owns, or the blocks of a type or kind.
        HeapWho,
        /// Blocks by kind, type, size, owner, age and what they retain.
        HeapBlocks,
        /// Which owners grow, and why.
        HeapLeaks,
    }
}

parameters! {
    /// What snapshots there are.
    Snapshots {
        /// Number of the recording, from 0.
        rec: u32,
    }

    /// What was alive over time.
    Evolution {
        /// Number of the recording, from 0.
        rec: u32,
        /// What a series is about.
        by: Series,
        /// Maximum number of series; the others are summed up.
        limit: usize,
    }

    /// What grew from each snapshot to the next.
    HeapGrowth {
        /// Number of the recording, from 0.
        rec: u32,
        /// From this snapshot on …
        from: Option<u64>,
        /// … to this one.
        to: Option<u64>,
    }

    /// Roots, by what they retain.
    HeapRoots {
        /// Number of the recording, from 0.
        rec: u32,
        /// Its number in the recording; the last snapshot if absent.
        snapshot: Option<u64>,
        /// Only what retains so many bytes.
        min: u64,
        /// Only this kind of root.
        kind: Option<String>,
        /// Only the roots directly below this one.
        under: Option<String>,
        /// Only roots whose names have this text; case matters if it has a capital letter.
        find: String,
        /// Column to sort by.
        sort: RootSort,
        /// Whether the largest come first.
        descending: bool,
        /// Rows to leave out at the beginning.
        offset: usize,
        /// Maximum number of rows.
        limit: usize,
    }

    /// All that is reachable, by the root that it is attributed to.
    HeapOwners {
        /// Which recording.
        rec: u32,
        /// Which snapshot.
        snapshot: Option<u64>,
        /// Only this kind of root.
        kind: Option<String>,
        /// Only roots whose names or aliases have this text; case matters if it has a capital letter.
        find: String,
        /// By which column.
        sort: OwnerSort,
        /// Largest first.
        descending: bool,
        /// Rows to leave out at the beginning.
        offset: usize,
        /// Rows at most.
        limit: usize,
    }

    /// What several roots retain jointly: who reaches it, and what to cut to free it.
    HeapJoint {
        /// Number of the recording, from 0.
        rec: u32,
        /// Its number in the recording; the last snapshot if absent.
        snapshot: Option<u64>,
        /// What rows are below: a root node with parts, or a block that several of them retain; none for the shares.
        under: Option<String>,
        /// Rows to leave out at the beginning.
        offset: usize,
        /// Maximum number of rows.
        limit: usize,
    }

    /// Hash tables, maps, arrays and the like.
    HeapContainers {
        /// Number of the recording, from 0.
        rec: u32,
        /// Its number in the recording; the last snapshot if absent.
        snapshot: Option<u64>,
        /// Only those with this text in type, owner or path; case matters if it has a capital letter.
        find: String,
        /// Column to sort by.
        sort: ContainerSort,
        /// Whether the largest come first.
        descending: bool,
        /// Rows to leave out at the beginning.
        offset: usize,
        /// Maximum number of rows.
        limit: usize,
    }

    /// How much there is of each kind of block.
    HeapHistogram {
        /// Number of the recording, from 0.
        rec: u32,
        /// Its number in the recording; the last snapshot if absent.
        snapshot: Option<u64>,
        /// What a row is about.
        by: Kinds,
        /// Only blocks that this root owns, or an alias of it.
        owner: Option<String>,
        /// Only kinds whose names have this text; case matters if it has a capital letter.
        find: String,
        /// Column to sort by.
        sort: KindSort,
        /// Whether the largest come first.
        descending: bool,
        /// Rows to leave out at the beginning.
        offset: usize,
        /// Maximum number of rows.
        limit: usize,
    }

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

    /// A block with its references, and where it was allocated.
    HeapBlock {
        /// Number of the recording, from 0.
        rec: u32,
        /// Its number in the recording; the last snapshot if absent.
        snapshot: Option<u64>,
        /// Its number.
        block: u32,
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

    /// What each stack frame retains.
    HeapStack {
        /// Number of the recording, from 0.
        rec: u32,
        /// Its number in the recording; the last snapshot if absent.
        snapshot: Option<u64>,
    }

    /// What two roots reach in common, and each alone.
    HeapShared {
        /// Number of the recording, from 0.
        rec: u32,
        /// Its number in the recording; the last snapshot if absent.
        snapshot: Option<u64>,
        /// A node that is a root.
        a: String,
        /// Another.
        b: String,
    }

    /// Strings that are there several times.
    HeapStrings {
        /// Number of the recording, from 0.
        rec: u32,
        /// Its number in the recording; the last snapshot if absent.
        snapshot: Option<u64>,
        /// Only strings that begin with something that has this text; case matters if it has a
        /// capital letter.
        find: String,
        /// Column to sort by.
        sort: StringSort,
        /// Whether the largest come first.
        descending: bool,
        /// Rows to leave out at the beginning.
        offset: usize,
        /// Maximum number of rows.
        limit: usize,
    }

    /// What changed between two snapshots.
    HeapDiff {
        /// Number of the recording, from 0.
        rec: u32,
        /// The earlier snapshot; the first if absent.
        a: Option<u64>,
        /// The later snapshot; the last if absent.
        b: Option<u64>,
        /// Of which recording the later one is, if not of the same.
        rec_b: Option<u32>,
        /// Changes of each sort at most.
        limit: usize,
    }

    /// The places in the program whose blocks retain most.
    HeapSamples {
        /// Number of the recording, from 0.
        rec: u32,
        /// Its number in the recording; the last snapshot if absent.
        snapshot: Option<u64>,
        /// What a row is about.
        by: By,
        /// What rows are put in order by.
        order: SiteOrder,
        /// Rows to leave out at the beginning.
        offset: usize,
        /// Maximum number of rows.
        limit: usize,
    }

    /// What retains what a function allocated.
    HeapWhy {
        /// Which recording.
        rec: u32,
        /// Which snapshot.
        snapshot: Option<u64>,
        /// The function's name, a part of it, `file.ml:12`, or the key of a call site.
        name: String,
        /// All that was allocated inside calls of the function, not only by itself.
        within: bool,
        /// Owners and paths at most.
        limit: usize,
        /// Boxes of the paths at most.
        boxes: usize,
    }

    /// Blocks that a filter wants.
    HeapBlocks {
        /// Which recording.
        rec: u32,
        /// Which snapshot.
        snapshot: Option<u64>,
        /// Conditions, with spaces between them; all blocks, if there is none.
        filter: String,
        /// By which column.
        sort: BlockSort,
        /// Largest first.
        descending: bool,
        /// Rows to leave out at the beginning.
        offset: usize,
        /// Rows at most.
        limit: usize,
    }

    /// Which owners grow, and why.
    HeapLeaks {
        /// Which recording.
        rec: u32,
        /// Which snapshot.
        snapshot: Option<u64>,
        /// Suspects at most.
        limit: usize,
    }

    /// Which calls allocated what a root owns, or the blocks of a type or kind.
    HeapWho {
        /// Which recording.
        rec: u32,
        /// Which snapshot.
        snapshot: Option<u64>,
        /// The root's, type's or kind's name …
        name: String,
        /// … or a root: what it owns …
        owner: Option<String>,
        /// … or a node: what would be freed without it.
        node: Option<String>,
        /// A row for each what.
        by: By,
        /// Rows at most.
        limit: usize,
        /// Boxes of the calls at most.
        boxes: usize,
    }
}

defaults! {
    Snapshots { rec: 0, }
    Evolution { rec: 0, by: Series::Owner, limit: 12, }
    HeapGrowth { rec: 0, from: None, to: None, }
    HeapRoots {
        rec: 0, snapshot: None, min: 0, kind: None, under: None, find: String::new(),
        sort: RootSort::Retained, descending: true, offset: 0, limit: 100,
    }
    HeapOwners {
        rec: 0, snapshot: None, kind: None, find: String::new(), sort: OwnerSort::Owned,
        descending: true, offset: 0, limit: 100,
    }
    HeapJoint { rec: 0, snapshot: None, under: None, offset: 0, limit: 100, }
    HeapContainers {
        rec: 0, snapshot: None, find: String::new(), sort: ContainerSort::Retained,
        descending: true, offset: 0, limit: 100,
    }
    HeapHistogram {
        rec: 0, snapshot: None, by: Kinds::Kind, owner: None, find: String::new(),
        sort: KindSort::Bytes, descending: true, offset: 0, limit: 100,
    }
    HeapChildren {
        rec: 0, snapshot: None, node: "all".into(), sort: ChildSort::Retained, descending: true,
        offset: 0, limit: 100,
    }
    HeapTreemap { rec: 0, snapshot: None, node: "all".into(), limit: 2000, depth: 8, }
    HeapFlame { rec: 0, snapshot: None, node: "all".into(), kind: None, limit: 2000, }
    HeapBlock { rec: 0, snapshot: None, block: 0, }
    HeapPath {
        rec: 0, snapshot: None, block: None, kind: None, how: PathForm::Shortest, unfolded: false,
        limit: 20,
    }
    HeapStack { rec: 0, snapshot: None, }
    HeapShared { rec: 0, snapshot: None, a: "all".into(), b: "all".into(), }
    HeapStrings {
        rec: 0, snapshot: None, find: String::new(), sort: StringSort::Wasted, descending: true,
        offset: 0, limit: 100,
    }
    HeapDiff { rec: 0, a: None, b: None, rec_b: None, limit: 100, }
    HeapSamples {
        rec: 0, snapshot: None, by: By::Site, order: SiteOrder::Alive, offset: 0, limit: 100,
    }
    HeapWhy { rec: 0, snapshot: None, name: String::new(), within: false, limit: 10, boxes: 0, }
    HeapWho {
        rec: 0, snapshot: None, name: String::new(), owner: None, node: None, by: By::Site, limit: 20,
        boxes: 0,
    }
    HeapBlocks {
        rec: 0, snapshot: None, filter: String::new(), sort: BlockSort::Retained, descending: true,
        offset: 0, limit: 100,
    }
    HeapLeaks { rec: 0, snapshot: None, limit: 10, }
}

selections! {
    /// What there is a series of.
    Series {
        /// Kinds of blocks.
        Kind,
        /// Roots, by what each retains.
        Root,
        /// Roots, by what is attributed to each.
        Owner,
    }

    /// What allocation sites are put in order by.
    SiteOrder {
        /// Bytes that are alive, an estimate.
        Alive,
        /// What the sampled blocks retain.
        Retained,
    }

    /// Columns of roots.
    RootSort {
        /// What nothing else retains.
        Retained,
        /// All that it reaches.
        Reachable,
        /// What it reaches and others do, too.
        Shared,
        /// Alphabetically.
        Name,
    }

    /// Columns of owners.
    OwnerSort {
        /// What is attributed to it.
        Owned,
        /// What would be freed without it.
        Retained,
        /// Bytes outside the heap.
        External,
        /// The name.
        Name,
    }

    /// Columns of containers.
    ContainerSort {
        /// What it retains.
        Retained,
        /// How many entries it has.
        Entries,
        /// What could be saved.
        Wasted,
        /// Bytes outside the heap.
        External,
        /// The type.
        Name,
    }

    /// What rows of a histogram are about.
    Kinds {
        /// Kinds of blocks.
        Kind,
    }

    /// Columns of a list of blocks.
    BlockSort {
        /// Bytes that would be freed without it.
        Retained,
        /// Own size.
        Size,
        /// Time since its allocation.
        Age,
        /// The block's number.
        Block,
        /// The kind.
        Name,
    }

    /// Columns of a histogram.
    KindSort {
        /// Own size.
        Bytes,
        /// Number of blocks.
        Blocks,
        /// Bytes that would be freed without them.
        Retained,
        /// Bytes outside the heap.
        External,
        /// Alphabetically.
        Name,
    }

    /// Columns of strings that are there several times.
    StringSort {
        /// What all but one of them take up.
        Wasted,
        /// How often it is there.
        Times,
        /// Bytes of one such string.
        Length,
        /// How it begins.
        Name,
    }

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
