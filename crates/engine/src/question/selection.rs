//! Rows of an answer that are wanted: those with a text, in an order, some of them.

use memtrail_profile::calls::Pattern;

/// Rows that are wanted.
#[derive(Clone, Debug)]
pub struct Selection<O = ()> {
    /// Rows with this text; of any case unless it has a capital letter.
    pub find: Option<String>,
    /// The order of rows.
    pub order: O,
    /// Rows to skip.
    pub offset: usize,
    /// Maximum number of rows.
    pub limit: usize,
}

impl Selection {
    /// All rows.
    pub const fn all() -> Self {
        Self::first((), usize::MAX)
    }
}

impl<O> Selection<O> {
    /// The first rows in an order.
    pub const fn first(order: O, limit: usize) -> Self {
        Self { find: None, order, offset: 0, limit }
    }

    /// The number of rows up to the last that is wanted.
    pub const fn end(&self) -> usize {
        self.offset.saturating_add(self.limit)
    }

    /// Leaves rows with the text.
    pub(super) fn search<T>(&self, rows: &mut Vec<T>, texts: impl Fn(&T) -> Vec<&str>) {
        if let Some(find) = &self.find {
            let pattern = Pattern::text(find);
            rows.retain(|row| texts(row).iter().any(|text| pattern.matches(text)));
        }
    }

    /// Leaves the rows that are wanted of rows in order; returns the number of the others.
    pub fn cut<T>(&self, rows: &mut Vec<T>) -> usize {
        let count = rows.len();
        rows.truncate(self.end());
        rows.drain(..self.offset.min(rows.len()));
        count - rows.len()
    }
}
