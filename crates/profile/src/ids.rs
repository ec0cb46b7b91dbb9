//! From a block's id to its row.
//!
//! Ids count up within a packet, and packets of a domain follow each other, so a whole trace is a
//! few runs of ids beside as many runs of rows: no table of all ids is needed.

use std::collections::BTreeMap;

use memtrail_trace::BlockId;

use crate::blocks::Row;

/// Ids `first .. first + len`, at rows `row .. row + len`.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    first: u64,
    len: u64,
    row: u32,
}

impl Run {
    fn row(&self, id: u64) -> Option<Row> {
        let offset = id.checked_sub(self.first).filter(|&offset| offset < self.len)?;
        Some(Row(self.row.wrapping_add(offset as u32)))
    }
}

/// Which ids have been seen, and where they stand.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    /// The run that the last block joined; not among the others.
    growing: Run,
    /// The growing run must end before this id, which another run holds.
    limit: u64,
    /// By first id: length and row.
    others: BTreeMap<u64, (u64, u32)>,
    /// Where the last search ended: the next one often ends there too.
    recent: Run,
}

impl Ids {
    /// Notes that `id` stands at `row`; `false` if it stands somewhere already.
    pub(crate) fn insert(&mut self, id: BlockId, row: Row) -> bool {
        let Run { first, len, row: start } = self.growing;
        let follows = len > 0
            && first.checked_add(len) == Some(id.0)
            && u64::from(start) + len == u64::from(row.0);
        if follows && id.0 < self.limit {
            self.growing.len += 1;
            return true;
        }
        if self.row_slowly(id.0).is_some() {
            return false;
        }
        if len > 0 {
            self.others.insert(first, (len, start));
        }
        self.growing = Run { first: id.0, len: 1, row: row.0 };
        self.limit = self.others.range(id.0..).next().map_or(u64::MAX, |(&next, _)| next);
        true
    }

    /// The row of a block, without remembering where it was found.
    pub(crate) fn find(&self, id: BlockId) -> Option<Row> {
        self.growing.row(id.0).or_else(|| {
            let (&first, &(len, row)) = self.others.range(..=id.0).next_back()?;
            Run { first, len, row }.row(id.0)
        })
    }

    /// The ids of the rows, in their order.
    pub(crate) fn of_rows(&self, rows: usize) -> Vec<BlockId> {
        let mut ids = vec![BlockId::default(); rows];
        let others = self.others.iter().map(|(&first, &(len, row))| Run { first, len, row });
        for run in others.chain([self.growing]) {
            let from = run.row as usize;
            for (offset, id) in ids.iter_mut().skip(from).take(run.len as usize).enumerate() {
                *id = BlockId(run.first + offset as u64);
            }
        }
        ids
    }

    /// The row of a block, if the id has been seen.
    pub(crate) fn row(&mut self, id: BlockId) -> Option<Row> {
        if let Some(row) = self.growing.row(id.0).or_else(|| self.recent.row(id.0)) {
            return Some(row);
        }
        self.row_slowly(id.0)
    }

    fn row_slowly(&mut self, id: u64) -> Option<Row> {
        let row = self.growing.row(id);
        if row.is_some() {
            return row;
        }
        let (&first, &(len, row)) = self.others.range(..=id).next_back()?;
        self.recent = Run { first, len, row };
        self.recent.row(id)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn runs_answer_like_a_hash_map(
            ids in prop::collection::vec((0..60_u64, 1..9_u64), 0..40),
            asked in prop::collection::vec(0..80_u64, 0..40),
        ) {
            let mut fast = Ids::default();
            let mut slow = HashMap::new();
            let mut row = 0;
            for id in ids.into_iter().flat_map(|(first, len)| first..first + len) {
                let new = !slow.contains_key(&id);
                prop_assert_eq!(fast.insert(BlockId(id), Row(row)), new);
                if new {
                    slow.insert(id, Row(row));
                    row += 1;
                }
            }
            for id in asked {
                prop_assert_eq!(fast.find(BlockId(id)), slow.get(&id).copied());
                prop_assert_eq!(fast.row(BlockId(id)), slow.get(&id).copied());
            }
        }

        #[test]
        fn ids_at_the_very_end_do_not_overflow(ids in prop::collection::vec(u64::MAX - 3.., 0..9)) {
            let mut fast = Ids::default();
            let mut slow = HashMap::new();
            for id in ids {
                let row = Row(slow.len() as u32);
                prop_assert_eq!(fast.insert(BlockId(id), row), !slow.contains_key(&id));
                slow.entry(id).or_insert(row);
                prop_assert_eq!(fast.row(BlockId(id)), slow.get(&id).copied());
            }
        }
    }
}
