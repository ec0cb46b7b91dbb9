//! Which thread allocated each block. Traces do not say; who knows it, adds it to a
//! [`Profile`](crate::Profile).

use crate::blocks::Row;

/// Threads by name, one for each row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Threads {
    names: Vec<String>,
    of_row: Vec<u16>,
}

impl Threads {
    /// The thread of each row, as an index in the names. `None` if one is beyond them.
    pub fn new(names: Vec<String>, of_row: Vec<u16>) -> Option<Self> {
        let known = of_row.iter().all(|&thread| usize::from(thread) < names.len());
        known.then_some(Self { names, of_row })
    }

    /// All names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The thread of a block; `None` for a row that nothing is known of.
    pub fn of(&self, row: Row) -> Option<&str> {
        let thread = self.of_row.get(row.0 as usize)?;
        self.names.get(usize::from(*thread)).map(String::as_str)
    }

    /// The index of the thread of each row.
    pub(crate) fn of_rows(&self) -> &[u16] {
        &self.of_row
    }
}
