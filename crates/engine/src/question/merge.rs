//! Questions, and how their answers are merged over processes.

use std::fmt::Debug;

use memtrail_heap::Bytes;
use serde::Serialize;

use super::family::{Member, Sizes};
use super::selection::Selection;
use super::unanswered::Unanswered;
use super::view::View;

/// A question about a snapshot.
pub trait Question {
    /// The answer.
    type Response: Serialize + Merge;

    /// True if it needs the types of blocks.
    fn needs_types(&self) -> bool {
        false
    }

    /// The rows that are wanted: all, unless there are many.
    fn selection(&self) -> Selection<<Self::Response as Merge>::Order>;

    /// Answers it for one snapshot, with all rows that merging needs.
    ///
    /// # Errors
    /// If the snapshot is damaged, or the question makes no sense for it.
    fn answer(&self, view: &View<'_>) -> Result<Self::Response, Unanswered>;
}

/// The parts of an answer about a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyForm {
    /// Sums over the processes.
    Sum,
    /// The answer of each process.
    Each,
    /// Both.
    SumAndEach,
}

impl FamilyForm {
    pub(super) const fn has_sum(self) -> bool {
        matches!(self, Self::Sum | Self::SumAndEach)
    }

    pub(super) const fn has_each(self) -> bool {
        matches!(self, Self::Each | Self::SumAndEach)
    }
}

/// An answer that is one of several processes of a family.
pub trait Merge: Clone {
    /// Orders of its rows.
    type Order: Clone + Debug;

    /// The parts of the answer about a family.
    const OF_FAMILY: FamilyForm = FamilyForm::Each;

    /// Names the process in each row, before answers are merged.
    fn name_process(&mut self, _process: &Member) {}

    /// Adds the answer of another process. Not called if a family has the answer of each process alone.
    fn merge(&mut self, _other: Self) {}

    /// Puts rows in order, and leaves those that are wanted.
    fn finish(&mut self, _selection: &Selection<Self::Order>) {}

    /// Sizes of the blocks that it is about, if the processes of a family are compared by them.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    fn sizes(&self, _view: &View<'_>) -> Result<Option<Sizes>, Unanswered> {
        Ok(None)
    }

    /// The size by which the answers of processes are put in order; 0 if there is nothing of what was asked for.
    fn size(&self) -> Bytes {
        Bytes(0)
    }

    /// The precedence of its meaning: of answers that differ in this, only the lowest are used. A name may be that of a
    /// function in one process and a part of names in another.
    fn rank(&self) -> u8 {
        0
    }
}
