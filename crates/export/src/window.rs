//! A part of a recording's time.

use memtrail_profile::filter::Kept;
use memtrail_profile::time::Elapsed;

/// From one moment to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its beginning.
    pub from: Elapsed,
    /// Its end.
    pub to: Elapsed,
}

impl Window {
    /// True if a moment is in the window.
    pub fn has(self, moment: Elapsed) -> bool {
        self.from <= moment && moment <= self.to
    }

    /// True if a block is live at the window's end.
    pub(crate) fn ends_with(self, kept: &Kept) -> bool {
        kept.born <= self.to && kept.died.is_none_or(|died| died > self.to)
    }
}
