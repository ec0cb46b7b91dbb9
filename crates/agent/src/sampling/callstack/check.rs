//! The slow oracle: stacks walked from scratch beside the incremental walk.

use memtrail_recording::Checked;

use super::cached::CachedStack;
use super::frames::Frames;
use super::segments::{StackSegment, Top};
use crate::recording::written_check::Expected;

/// Compares walks.
#[derive(Default)]
pub(super) struct Check {
    stack: CachedStack,
}

impl Check {
    /// Walks again, from scratch, and compares with what was found.
    pub(super) fn walk(
        &mut self,
        frames: &Frames,
        running: Option<(StackSegment, Top)>,
        limit: usize,
        found: &mut CachedStack,
        result: &mut Checked,
    ) -> Expected {
        self.stack.forget();
        self.stack.update(frames, running, limit);
        result.stacks += 1;
        let same = self.stack.same_as(found);
        result.different += u64::from(!same);
        // Of very deep stacks, two callstacks may pass for the same.
        Expected::of(if same { found.codes() } else { self.stack.codes() })
    }
}
