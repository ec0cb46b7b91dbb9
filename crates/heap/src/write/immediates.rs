//! Integers that types can be known from: hashes in the first field of blocks with two, and those that are keys in nodes
//! of maps.
//!
//! What is kept must not grow with the heap: one of random integers has as many of them as blocks. So the first walk counts,
//! in a table of bounded size. Hashes of names in the program are always kept, of all others those that are most frequent;
//! if there are no more than the table holds, all are.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::details::Details;
use memtrail_leb128::{put, put_bytes, zigzag};

/// Integers nearer to 0 than this are mostly no hashes.
const MIN: i64 = 1 << 20;
/// Hashes have 31 bits, of which one is a sign.
const END: i64 = 1 << 30;
/// So many hashes of names at most: two megabytes, as much for their numbers, and as much in the file.
const MAX_HASHES: usize = 1 << 19;
/// So many other integers at most.
const MAX_OTHERS: usize = 1 << 16;
/// Bits of the quick look before the search among hashes.
const QUICK_BITS: usize = 1 << 22;

/// The integers that are kept, and which of them were met.
#[derive(Debug, Default)]
pub(super) struct Immediates {
    /// In order.
    hashes: Vec<i32>,
    /// For each the number in the file + 1; 0 if it was not met.
    numbers: Vec<u32>,
    /// For the low bits of each.
    quick: Vec<u64>,
    /// Integers that are no hashes of names, and how many more there were of each than of those that were dropped for it.
    others: HashMap<i32, u32, FxBuildHasher>,
    /// Places of those that were met.
    met: Vec<u32>,
}

/// Nodes of maps are no higher: a balanced tree with more would not fit into memory.
const MAX_HEIGHT: i64 = 64;

/// The integer of a block that types can be known from.
#[inline]
pub(super) const fn of_block(tag: u8, fields: &[u64]) -> Option<i32> {
    match (tag, fields) {
        (0, [first, _]) => hash(*first),
        // The left subtree, the key, the value, the right subtree and the height of the node of a map.
        (0, [_, key, _, _, height]) if is_height(*height) => hash(*key),
        _ => None,
    }
}

/// Whether a word may be the height of a tree.
const fn is_height(word: u64) -> bool {
    let height = word as i64 >> 1;
    word & 1 == 1 && 0 < height && height <= MAX_HEIGHT
}

/// The integer that a word is, if it may be a hash.
const fn hash(word: u64) -> Option<i32> {
    let value = word as i64 >> 1;
    if word & 1 == 1 && may_be_hash(value) { Some(value as i32) } else { None }
}

const fn may_be_hash(value: i64) -> bool {
    -END <= value && value <= -MIN || MIN <= value && value < END
}

/// The bit of the quick look that stands for a hash.
#[inline]
const fn quick_bit(hash: i32) -> (usize, u64) {
    let bit = hash as u32 as usize % QUICK_BITS;
    (bit / 64, 1 << (bit % 64))
}

impl Immediates {
    /// Asks for the hashes of the program's names.
    pub(super) fn new<D: Details>(details: &mut D) -> Self {
        let mut hashes: Vec<i32> = Vec::new();
        // Programs have the same names in many places.
        let mut limit = 1 << 16;
        details.hashes(&mut |value| {
            if may_be_hash(value) && hashes.len() < 2 * MAX_HASHES {
                hashes.push(value as i32);
            }
            if hashes.len() >= limit {
                hashes.sort_unstable();
                hashes.dedup();
                limit = (2 * hashes.len()).max(limit);
            }
        });
        hashes.sort_unstable();
        hashes.dedup();
        hashes.truncate(MAX_HASHES);
        let mut immediates = Self { hashes, ..Self::default() };
        immediates.look_up_quickly();
        immediates
    }

    /// Counts the integer of a block, before any is written (Misra and Gries).
    #[inline]
    pub(super) fn count(&mut self, value: i32) {
        if self.place(value).is_some() {
            return;
        }
        if let Some(count) = self.others.get_mut(&value) {
            *count = count.saturating_add(1);
        } else {
            if self.others.len() >= MAX_OTHERS {
                self.others.retain(|_, count| {
                    *count -= 1;
                    *count > 0
                });
            }
            if self.others.len() < MAX_OTHERS {
                self.others.insert(value, 1);
            }
        }
    }

    /// All blocks are counted: what is kept is known.
    pub(super) fn settle(&mut self) {
        let others = std::mem::take(&mut self.others);
        self.hashes.extend(others.keys());
        self.hashes.sort_unstable();
        self.numbers = vec![0; self.hashes.len()];
        self.look_up_quickly();
    }

    fn look_up_quickly(&mut self) {
        self.quick.clear();
        self.quick.resize(if self.hashes.is_empty() { 0 } else { QUICK_BITS / 64 }, 0);
        for hash in &self.hashes {
            let (word, bit) = quick_bit(*hash);
            self.quick[word] |= bit;
        }
    }

    #[inline]
    fn place(&self, value: i32) -> Option<usize> {
        let (word, bit) = quick_bit(value);
        if self.quick.get(word)? & bit == 0 {
            return None;
        }
        self.hashes.binary_search(&value).ok()
    }

    /// The number of an integer in the file, if it is kept.
    #[inline]
    pub(super) fn number(&mut self, value: i32) -> Option<u32> {
        let place = self.place(value)?;
        let number = self.numbers.get_mut(place)?;
        if *number == 0 {
            self.met.push(place as u32);
            *number = self.met.len() as u32;
        }
        Some(*number - 1)
    }

    /// The section.
    pub(super) fn finish<D: Details>(&mut self, details: &mut D) -> Vec<u8> {
        let value = |place: &u32| i64::from(self.hashes[*place as usize]);
        let mut raw = Vec::new();
        put(&mut raw, self.met.len() as u64);
        for place in &self.met {
            put(&mut raw, zigzag(value(place)));
        }
        self.met.sort_unstable();
        let hashes: Vec<i64> = self.met.iter().map(value).collect();
        let (mut names, mut count) = (Vec::new(), 0);
        details.variants(&hashes, &mut |place, name| {
            if let Some(place) = self.met.get(place) {
                put(&mut names, u64::from(self.numbers[*place as usize]) - 1);
                put_bytes(&mut names, name);
                count += 1;
            }
        });
        put(&mut raw, count);
        raw.extend_from_slice(&names);
        raw
    }
}
