//! Questions, and how their answers are merged over processes.

use serde::Serialize;

use super::family::{Member, Sizes};
use super::unanswered::Unanswered;
use super::view::View;

/// A question about a snapshot.
pub trait Question {
    /// The answer.
    type Response: Serialize + Merge;

    /// True if it needs the types of blocks.
    fn needs_types(&self) -> bool;

    /// Maximum number of rows of the answer.
    fn limit(&self) -> usize;

    /// Answers it for one snapshot, with all rows that merging needs.
    ///
    /// # Errors
    /// If the snapshot is damaged, or the question makes no sense for it.
    fn answer(&self, view: &View<'_>) -> Result<Self::Response, Unanswered>;
}

/// An answer that can be added to that of another process.
pub trait Merge {
    /// Names the process in each row, before answers are merged.
    fn name_process(&mut self, process: &Member);

    /// Adds the answer of another process.
    fn merge(&mut self, other: Self);

    /// Puts rows in order, and leaves so many.
    fn finish(&mut self, limit: usize);

    /// Sizes of the blocks that it is about, if processes are compared by them.
    fn sizes(&self) -> Option<Sizes> {
        None
    }
}

/// Cuts rows off; returns the number of rows that it cut.
pub(super) fn cut<T>(rows: &mut Vec<T>, limit: usize) -> usize {
    rows.split_off(rows.len().min(limit)).len()
}
