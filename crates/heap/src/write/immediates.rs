//! Integers that types can be known from: hashes in the first field of blocks with two, and those that are keys in nodes
//! of maps.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::details::Details;
use memtrail_leb128::{put, put_bytes, zigzag};

/// Integers nearer to 0 than this are mostly no hashes.
const MIN: i64 = 1 << 20;
/// Hashes have 31 bits, of which one is a sign.
const END: i64 = 1 << 30;

/// The integers that were met, each once, and the blocks that have them.
#[derive(Debug, Default)]
pub(super) struct Immediates {
    numbers: HashMap<i64, u32, FxBuildHasher>,
    values: Vec<i64>,
    /// The blocks as they are in the file.
    blocks: Vec<u8>,
    /// The numbers of their values, apart from these: so each compresses better.
    numbers_of_blocks: Vec<u8>,
    count: u64,
    last: u32,
}

/// Nodes of maps are no higher: a balanced tree with more would not fit into memory.
const MAX_HEIGHT: i64 = 64;

/// The integer of a block that types can be known from.
#[inline]
pub(super) const fn of_block(tag: u8, fields: &[u64]) -> Option<i64> {
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
const fn hash(word: u64) -> Option<i64> {
    let value = word as i64 >> 1;
    if word & 1 == 1 && (-END <= value && value <= -MIN || MIN <= value && value < END) {
        Some(value)
    } else {
        None
    }
}

impl Immediates {
    /// One more block.
    #[inline]
    pub(super) fn push(&mut self, block: u32, value: i64) {
        let next = self.values.len() as u32;
        let number = *self.numbers.entry(value).or_insert(next);
        if number == next {
            self.values.push(value);
        }
        put(&mut self.blocks, zigzag(i64::from(block) - i64::from(self.last)));
        put(&mut self.numbers_of_blocks, u64::from(number));
        self.last = block;
        self.count += 1;
    }

    /// The section.
    pub(super) fn finish<D: Details>(&self, details: &mut D) -> Vec<u8> {
        let mut raw = Vec::new();
        put(&mut raw, self.values.len() as u64);
        for value in &self.values {
            put(&mut raw, zigzag(*value));
        }
        let mut order: Vec<(i64, u32)> = self.values.iter().copied().zip(0..).collect();
        order.sort_unstable();
        let hashes: Vec<i64> = order.iter().map(|(value, _)| *value).collect();
        let (mut names, mut count) = (Vec::new(), 0);
        details.variants(&hashes, &mut |place, name| {
            if let Some((_, number)) = order.get(place) {
                put(&mut names, u64::from(*number));
                put_bytes(&mut names, name);
                count += 1;
            }
        });
        put(&mut raw, count);
        raw.extend_from_slice(&names);
        put(&mut raw, self.count);
        raw.extend_from_slice(&self.blocks);
        raw.extend_from_slice(&self.numbers_of_blocks);
        raw
    }
}
