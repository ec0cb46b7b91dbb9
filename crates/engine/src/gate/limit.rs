//! Gates, as they are asked for.

use memtrail_text::Size;

use crate::leaks::KnownLeaks;

/// A limit, and how the user wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// What results are called: `--max-live 200M`.
    pub text: String,
    /// What is limited.
    pub limit: Limit,
}

/// What is limited, and by how much.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit {
    /// The most that may be alive at a time.
    MaxLive(Size),
    /// The most that may be allocated in all.
    MaxTotal(Size),
    /// By how much what is alive may grow.
    MaxGrowth(GrowthLimit),
    /// The most that may be alive at a time of the blocks that conditions keep.
    Site {
        /// The conditions, in their text form.
        filter: Vec<String>,
        /// The limit.
        most: Size,
    },
    /// Nothing may be a leak suspect but these.
    NoLeak(KnownLeaks),
    /// No more than another recording has.
    Baseline {
        /// The other recording.
        rec: u32,
        /// What it may be more, as a part of what the other has.
        tolerance: f64,
    },
}

/// Growth in a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GrowthLimit {
    /// Bytes a second.
    Bytes(f64),
    /// A part of what is alive on average, a second.
    Share(f64),
}
