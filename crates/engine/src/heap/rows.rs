//! Bounds of what an answer tells.

use crate::names::Budget;

/// Rows of an answer at most.
const MAX_ROWS: usize = 10_000;
/// Rows that a page shows at a time, at most. Who asks for more wants a copy of the table.
const MAX_SHOWN: usize = 1000;

/// How many rows an answer may have.
pub(super) struct Rows {
    limit: usize,
    budget: Budget,
}

impl Rows {
    /// As many as are asked for, and no more than there may be.
    pub(super) fn new(limit: usize) -> Self {
        let limit = limit.min(MAX_ROWS);
        let budget = if limit > MAX_SHOWN { Budget::large() } else { Budget::new() };
        Self { limit, budget }
    }

    /// Rows at most.
    pub(super) const fn limit(&self) -> usize {
        self.limit
    }

    /// As many of these as have room, by their sizes in bytes.
    pub(super) fn affordable<'a, T>(
        &mut self,
        rows: &'a [T],
        size: impl Fn(&T) -> usize,
    ) -> &'a [T] {
        let fits = |row: &&T| self.budget.take(size(row));
        let count = rows.iter().take(self.limit).take_while(fits).count();
        &rows[..count]
    }
}
