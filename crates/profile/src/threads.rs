//! Which thread allocated each block. Traces do not say; a recording may, in a list beside its trace.

use std::collections::BTreeMap;

use memtrail_trace::{BlockId, DomainId};

use crate::blocks::Row;

/// Whose blocks are whose, by the ids that the trace gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadLog {
    /// Of all threads. Empty for numbers that no thread has.
    pub names: Vec<String>,
    /// For each domain: from which block on they are whose, as an index in the names; ascending.
    pub switches: BTreeMap<u16, Vec<(u64, u16)>>,
}

/// Threads by name, one for each row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Threads {
    log: ThreadLog,
    /// For each domain the place in its switches of the block that came last.
    last: BTreeMap<u16, usize>,
    of_row: Vec<u16>,
}

/// Of a block whose thread is unknown.
const NOBODY: u16 = u16::MAX;

impl Threads {
    /// All names. Those of numbers that no thread has are empty.
    pub fn names(&self) -> &[String] {
        &self.log.names
    }

    /// The thread of a block; `None` for a row that nothing is known of.
    pub fn of(&self, row: Row) -> Option<&str> {
        let thread = self.of_row.get(row.0 as usize)?;
        self.log.names.get(usize::from(*thread)).map(String::as_str)
    }

    /// Nothing is known of so many rows.
    pub(crate) fn after(rows: usize) -> Self {
        Self { of_row: vec![NOBODY; rows], ..Self::default() }
    }

    /// Takes a list that goes further than the one before.
    pub(crate) fn learn(&mut self, log: ThreadLog) {
        self.log = log;
    }

    /// Adds the next row: this block of this domain.
    pub(crate) fn push(&mut self, domain: DomainId, id: BlockId) {
        let thread = self.find(domain, id).unwrap_or(NOBODY);
        self.of_row.push(thread);
    }

    /// Keeps these rows, which are in order.
    pub(crate) fn keep(&mut self, rows: &[Row]) {
        let of = |row: &Row| self.of_row.get(row.0 as usize).copied().unwrap_or(NOBODY);
        self.of_row = rows.iter().map(of).collect();
    }

    fn find(&mut self, domain: DomainId, id: BlockId) -> Option<u16> {
        let switches = self.log.switches.get(&domain.0)?;
        let last = self.last.entry(domain.0).or_default();
        // Blocks come in the order of their ids, unless the trace is damaged.
        if switches.get(*last).is_none_or(|&(first, _)| id.0 < first) {
            *last = 0;
        }
        while switches.get(*last + 1).is_some_and(|&(first, _)| first <= id.0) {
            *last += 1;
        }
        switches.get(*last).filter(|&&(first, _)| first <= id.0).map(|&(_, thread)| thread)
    }

    /// The index of the thread of each row.
    pub(crate) fn of_rows(&self) -> &[u16] {
        &self.of_row
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_block_has_the_thread_that_began_last(
            starts in prop::collection::btree_map(0..60_u64, 0..4_u16, 0..12),
            ids in prop::collection::vec(0..70_u64, 0..60),
            cut in 0..12_usize,
        ) {
            let names = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
            let switches: Vec<(u64, u16)> = starts.iter().map(|(&id, &thread)| (id, thread)).collect();
            let log = |upto: usize| {
                let switches = BTreeMap::from([(3, switches[..upto].to_vec())]);
                ThreadLog { names: names.clone(), switches }
            };
            let mut threads = Threads::default();
            // First a part of the list is known, then all of it, as in a recording that grows.
            let known = cut.min(switches.len());
            threads.learn(log(known));
            let half = ids.len() / 2;
            for (at, &id) in ids.iter().enumerate() {
                if at == half {
                    threads.learn(log(switches.len()));
                }
                threads.push(DomainId(3), BlockId(id));
                let there = if at < half { known } else { switches.len() };
                let wanted = switches[..there].iter().rfind(|&&(first, _)| first <= id);
                let wanted = wanted.map(|&(_, thread)| names[usize::from(thread)].as_str());
                prop_assert_eq!(threads.of(Row(at as u32)), wanted);
            }
            threads.push(DomainId(0), BlockId(5));
            prop_assert_eq!(threads.of(Row(ids.len() as u32)), None);
        }
    }
}
