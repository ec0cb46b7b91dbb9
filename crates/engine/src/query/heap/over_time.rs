//! Of several snapshots: what there is, and what changed.

use serde::Deserialize;

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
}

defaults! {
    Snapshots { rec: 0, }
    Evolution { rec: 0, by: Series::Owner, limit: 12, }
    HeapGrowth { rec: 0, from: None, to: None, }
    HeapDiff { rec: 0, a: None, b: None, rec_b: None, limit: 100, }
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
}
