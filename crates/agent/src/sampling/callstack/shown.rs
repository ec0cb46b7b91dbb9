//! Of a deep callstack only the two ends are shown ([`memtrail_trace::omitted`]).

use crate::os::heap::may_fail;
use memtrail_trace::{Code, omitted};

/// What is shown of a deep callstack.
#[derive(Default)]
pub(super) struct Shown {
    codes: Vec<Code>,
    /// Scratch: what was shown before.
    before: Vec<Code>,
}

impl Shown {
    pub(super) fn codes(&self) -> &[Code] {
        &self.codes
    }

    pub(super) fn codes_mut(&mut self) -> &mut [Code] {
        &mut self.codes
    }

    pub(super) fn clear(&mut self) {
        self.codes.clear();
    }

    /// Shows the outermost frames, one that stands for `gap` frames, and the innermost ones. Returns
    /// how many frames are as they were.
    pub(super) fn show(&mut self, outer: &[Code], gap: usize, inner: &[Code]) -> usize {
        std::mem::swap(&mut self.codes, &mut self.before);
        self.codes.clear();
        let length = outer.len() + 1 + inner.len();
        if may_fail(|| self.codes.try_reserve(length)).is_err() {
            return 0;
        }
        self.codes.extend_from_slice(outer);
        self.codes.push(omitted::code(gap));
        self.codes.extend_from_slice(inner);
        self.codes.iter().zip(&self.before).take_while(|(now, before)| now == before).count()
    }
}
