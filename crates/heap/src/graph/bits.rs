//! A set of small numbers, one bit each, that can say how many are before one.

/// Numbers below a limit, each in or out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    pub(crate) fn new(limit: usize) -> Self {
        Self { words: vec![0; limit.div_ceil(64)] }
    }

    #[inline]
    pub(crate) fn contains(&self, number: u32) -> bool {
        self.words[number as usize / 64] >> (number % 64) & 1 != 0
    }

    /// Adds a number; says whether it was out.
    #[inline]
    pub(crate) fn insert(&mut self, number: u32) -> bool {
        let word = &mut self.words[number as usize / 64];
        let bit = 1 << (number % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Takes a number out.
    pub(crate) fn remove(&mut self, number: u32) {
        self.words[number as usize / 64] &= !(1 << (number % 64));
    }

    /// All that are in, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        (0u32..).zip(&self.words).flat_map(|(place, word)| {
            let mut word = *word;
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros();
                    word &= word - 1;
                    place * 64 + bit
                })
            })
        })
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn from_words(words: Vec<u64>) -> Self {
        Self { words }
    }
}

/// A set that does not change any more: every member has a rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranked {
    bits: Bits,
    before: Vec<u32>,
}

impl Ranked {
    pub(crate) fn new(bits: Bits) -> Self {
        let mut count = 0;
        let before = bits
            .words
            .iter()
            .map(|word| {
                let before = count;
                count += word.count_ones();
                before
            })
            .collect();
        Self { bits, before }
    }

    #[inline]
    pub(crate) fn contains(&self, number: u32) -> bool {
        self.bits.contains(number)
    }

    /// How many members are smaller.
    #[inline]
    pub(crate) fn rank(&self, number: u32) -> u32 {
        let word = number as usize / 64;
        self.before[word] + (self.bits.words[word] & ((1 << (number % 64)) - 1)).count_ones()
    }

    /// The member with a rank.
    pub(crate) fn select(&self, rank: u32) -> Option<u32> {
        let word = self.before.partition_point(|before| *before <= rank).checked_sub(1)?;
        let mut bits = self.bits.words[word];
        for _ in self.before[word]..rank {
            bits &= bits.wrapping_sub(1);
        }
        (bits != 0).then(|| word as u32 * 64 + bits.trailing_zeros())
    }

    pub(crate) fn len(&self) -> usize {
        let last = self.bits.words.last().map_or(0, |word| word.count_ones());
        (self.before.last().copied().unwrap_or(0) + last) as usize
    }

    pub(crate) fn bits(&self) -> &Bits {
        &self.bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_set(numbers in proptest::collection::btree_set(0u32..1000, 0..300)) {
            let mut bits = Bits::new(1000);
            for number in &numbers {
                prop_assert!(bits.insert(*number));
                prop_assert!(!bits.insert(*number));
            }
            prop_assert_eq!(bits.iter().collect::<Vec<_>>(), numbers.iter().copied().collect::<Vec<_>>());
            let ranked = Ranked::new(bits);
            prop_assert_eq!(ranked.len(), numbers.len());
            for (rank, number) in numbers.iter().enumerate() {
                prop_assert_eq!(ranked.rank(*number), rank as u32);
                prop_assert_eq!(ranked.select(rank as u32), Some(*number));
            }
            prop_assert_eq!(ranked.select(numbers.len() as u32), None);
        }
    }
}
