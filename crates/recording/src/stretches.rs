//! What holds from a block on, for each domain: as the files of threads and of rates list it.

use std::collections::BTreeMap;

/// For each domain the first block of each stretch, ascending, and what holds there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretches<T>(BTreeMap<u16, Vec<(u64, T)>>);

impl<T> Default for Stretches<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> Stretches<T> {
    /// Adds a stretch; nothing if it begins before the domain's last one.
    pub(crate) fn push(&mut self, domain: u16, block: u64, value: T) -> Option<()> {
        let stretches = self.0.entry(domain).or_default();
        if stretches.last().is_some_and(|&(last, _)| block < last) {
            return None;
        }
        stretches.push((block, value));
        Some(())
    }

    /// What holds for a block; nothing before the first stretch.
    pub fn of(&self, domain: u16, block: u64) -> Option<&T> {
        let stretches = self.0.get(&domain)?;
        let after = stretches.partition_point(|&(first, _)| first <= block);
        stretches.get(after.checked_sub(1)?).map(|(_, value)| value)
    }

    /// Domains with their stretches.
    pub fn iter(&self) -> impl Iterator<Item = (u16, &[(u64, T)])> {
        self.0.iter().map(|(&domain, stretches)| (domain, stretches.as_slice()))
    }

    /// Domains with their stretches, as a table.
    pub fn into_inner(self) -> BTreeMap<u16, Vec<(u64, T)>> {
        self.0
    }

    /// How many stretches there are.
    pub fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> From<BTreeMap<u16, Vec<(u64, T)>>> for Stretches<T> {
    fn from(mut stretches: BTreeMap<u16, Vec<(u64, T)>>) -> Self {
        for list in stretches.values_mut() {
            list.sort_by_key(|&(first, _)| first);
        }
        Self(stretches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_what_the_last_stretch_before_it_says() {
        let mut stretches = Stretches::default();
        assert!(stretches.is_empty());
        for (domain, block, value) in [(0, 0, 'a'), (0, 120, 'b'), (1, 10_000, 'c')] {
            assert_eq!(stretches.push(domain, block, value), Some(()));
        }
        assert_eq!(stretches.push(0, 119, 'd'), None);
        let of = |domain, block| stretches.of(domain, block).copied();
        assert_eq!((of(0, 0), of(0, 119), of(0, 120)), (Some('a'), Some('a'), Some('b')));
        assert_eq!((of(1, 9_999), of(1, 10_000), of(2, 0)), (None, Some('c'), None));
        assert_eq!(stretches.len(), 3);
    }
}
