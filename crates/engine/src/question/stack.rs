//! Stack frames, and what each retains.

use memtrail_heap::Bytes;
use memtrail_heap::query::{self, ReachCache, RootRow};
use serde::Serialize;

use super::merge::{Merge, Question};
use super::selection::Selection;
use super::unanswered::Unanswered;
use super::view::View;

/// What does each stack frame retain?
#[derive(Clone, Copy, Debug)]
pub struct StackQuestion;

/// Stack frames.
#[derive(Clone, Debug, Serialize)]
pub struct StackFrames {
    /// Threads and frames.
    pub rows: Vec<RootRow>,
}

impl Question for StackQuestion {
    type Response = StackFrames;

    fn selection(&self) -> Selection {
        Selection::all()
    }

    fn answer(&self, view: &View<'_>) -> Result<StackFrames, Unanswered> {
        let heap = view.heap;
        let rows = query::root_rows(heap, &query::stack(heap), &ReachCache::default());
        Ok(StackFrames { rows })
    }
}

impl Merge for StackFrames {
    type Order = ();

    /// Bytes that the stacks reach; of those that overlap the largest.
    fn size(&self) -> Bytes {
        let named = self.rows.iter().filter(|row| !row.path.is_empty());
        named.map(|row| row.reachable).max().unwrap_or_default()
    }
}
