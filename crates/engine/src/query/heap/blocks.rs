//! Of blocks: kinds, containers, strings, single ones.

use serde::Deserialize;

parameters! {
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

    /// A block with its references, and where it was allocated.
    HeapBlock {
        /// Number of the recording, from 0.
        rec: u32,
        /// Its number in the recording; the last snapshot if absent.
        snapshot: Option<u64>,
        /// Its number.
        block: u32,
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
}

defaults! {
    HeapContainers {
        rec: 0, snapshot: None, find: String::new(), sort: ContainerSort::Retained,
        descending: true, offset: 0, limit: 100,
    }
    HeapHistogram {
        rec: 0, snapshot: None, by: Kinds::Kind, owner: None, find: String::new(),
        sort: KindSort::Bytes, descending: true, offset: 0, limit: 100,
    }
    HeapStrings {
        rec: 0, snapshot: None, find: String::new(), sort: StringSort::Wasted, descending: true,
        offset: 0, limit: 100,
    }
    HeapBlock { rec: 0, snapshot: None, block: 0, }
    HeapBlocks {
        rec: 0, snapshot: None, filter: String::new(), sort: BlockSort::Retained, descending: true,
        offset: 0, limit: 100,
    }
}

selections! {
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
}
