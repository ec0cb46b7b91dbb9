//! Of the heap and of allocation: who allocated, what retains.

use serde::Deserialize;

use crate::query::profile::{By, Recursion};

parameters! {
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

    /// What was alive in one snapshot and is in a later one, by what allocated it.
    HeapSurvivors {
        /// Number of the recording, from 0.
        rec: u32,
        /// Alive in this snapshot …; the first if absent.
        from: Option<u64>,
        /// … and in this one; the last if absent.
        to: Option<u64>,
        /// What a row is about.
        by: By,
        /// What rows are put in order by.
        order: SurvivorOrder,
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
        /// Instead of what the name means: keys of a contiguous piece of a call path, outermost first.
        path: Vec<String>,
        /// The path's tree is the one that these conditions leave.
        transforms: Vec<String>,
        /// Functions that occur several times on a path.
        recursion: Recursion,
        /// Owners and paths at most.
        limit: usize,
        /// Boxes of the paths at most.
        boxes: usize,
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

    /// Which owners grow, and why.
    HeapLeaks {
        /// Which recording.
        rec: u32,
        /// Which snapshot.
        snapshot: Option<u64>,
        /// Suspects at most.
        limit: usize,
    }
}

defaults! {
    HeapSamples {
        rec: 0, snapshot: None, by: By::Site, order: SiteOrder::Alive, offset: 0, limit: 100,
    }
    HeapSurvivors {
        rec: 0, from: None, to: None, by: By::Site, order: SurvivorOrder::Survived, offset: 0,
        limit: 100,
    }
    HeapWhy {
        rec: 0, snapshot: None, name: String::new(), within: false, path: vec![],
        transforms: vec![], recursion: Recursion::Folded, limit: 10, boxes: 0,
    }
    HeapWho {
        rec: 0, snapshot: None, name: String::new(), owner: None, node: None, by: By::Site, limit: 20,
        boxes: 0,
    }
    HeapLeaks { rec: 0, snapshot: None, limit: 10, }
}

selections! {
    /// What allocation sites are put in order by.
    SiteOrder {
        /// Bytes that are alive, an estimate.
        Alive,
        /// What the sampled blocks retain.
        Retained,
    }

    /// What allocation sites are put in order by, when two snapshots are compared.
    SurvivorOrder {
        /// Bytes that survived, most first.
        Survived,
        /// Bytes that were added, most first.
        Added,
        /// When half of what survived had been allocated, earliest first.
        Oldest,
    }
}
