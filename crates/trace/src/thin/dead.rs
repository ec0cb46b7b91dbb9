//! The blocks of the history that are thinned, by the order of their allocations.

/// A set of blocks, a bit for each.
#[derive(Clone, Debug, Default)]
pub(super) struct Dead {
    words: Vec<u64>,
}

impl Dead {
    pub(super) fn insert(&mut self, block: u64) {
        let word = (block / 64) as usize;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        if let Some(word) = self.words.get_mut(word) {
            *word |= 1 << (block % 64);
        }
    }

    pub(super) fn contains(&self, block: u64) -> bool {
        self.words.get((block / 64) as usize).is_some_and(|word| word >> (block % 64) & 1 == 1)
    }
}
