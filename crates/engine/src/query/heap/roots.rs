//! Of roots: what each retains, owns and shares.

use serde::Deserialize;

parameters! {
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
}

defaults! {
    HeapRoots {
        rec: 0, snapshot: None, min: 0, kind: None, under: None, find: String::new(),
        sort: RootSort::Retained, descending: true, offset: 0, limit: 100,
    }
    HeapOwners {
        rec: 0, snapshot: None, kind: None, find: String::new(), sort: OwnerSort::Owned,
        descending: true, offset: 0, limit: 100,
    }
    HeapJoint { rec: 0, snapshot: None, under: None, offset: 0, limit: 100, }
    HeapStack { rec: 0, snapshot: None, }
    HeapShared { rec: 0, snapshot: None, a: "all".into(), b: "all".into(), }
}

selections! {
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
}
