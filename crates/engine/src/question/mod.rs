//! Questions about a snapshot: each is a type, with one answer for a process and for all processes of a family.
//!
//! The answer is what JSON has; text and tables are made of it. Answers that add up are [merged](Merge), process by process,
//! by one [`Reduction`].

mod containers;
mod family;
mod histogram;
pub mod named;
mod reduction;
mod view;

use memtrail_heap::graph::Failed;
use memtrail_heap::read;
use serde::Serialize;

pub use containers::{ContainerOf, ContainersAnswer, ContainersQuestion};
pub use family::{FamilySums, Member, OfProcess, Sizes, Twice};
pub use histogram::{HistogramAnswer, HistogramQuestion, KindSum, ProcessPart, allocated_parts};
pub use reduction::{Outcome, Reduction};
pub use view::{Host, Trace, View};

use crate::api_error::ApiError;

/// A question about a snapshot.
pub trait Question {
    /// The answer.
    type Answer: Serialize + Merge;

    /// True if it needs the types of blocks.
    fn needs_types(&self) -> bool;

    /// Maximum number of rows of the answer.
    fn limit(&self) -> usize;

    /// Answers it for one snapshot, with all rows that merging needs.
    ///
    /// # Errors
    /// If the snapshot is damaged, or the question makes no sense for it.
    fn answer(&self, view: &View<'_>) -> Result<Self::Answer, Unanswered>;
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

/// The reason that a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// The snapshot is damaged, or there is no room for its analysis.
    #[error(transparent)]
    Snapshot(#[from] Failed),
    /// The question makes no sense for this snapshot.
    #[error(transparent)]
    Refused(#[from] ApiError),
}

impl From<read::Error> for Unanswered {
    fn from(error: read::Error) -> Self {
        Self::Snapshot(error.into())
    }
}

/// Cuts rows off; returns the number of rows that it cut.
fn cut<T>(rows: &mut Vec<T>, limit: usize) -> usize {
    rows.split_off(rows.len().min(limit)).len()
}
