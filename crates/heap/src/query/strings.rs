//! Strings that are there several times.

use hashbrown::HashMap;
use memtrail_order::SortRows as _;
use rustc_hash::FxBuildHasher;
use serde::Serialize;
use xxhash_rust::xxh3::Xxh3Default;

use super::escape::escaped;
use super::heap::Heap;
use crate::read::Error;
use crate::units::{BlockIndex, Bytes};

/// What strings take up.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Strings {
    /// Sums of all strings.
    #[serde(flatten)]
    pub sums: StringSums,
    /// Those that are there several times, most wasteful first; of very many only the first.
    pub duplicates: Vec<Duplicate>,
}

/// Sums of all strings.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StringSums {
    /// Strings that are reachable.
    pub strings: u64,
    /// Their size, headers counted.
    pub bytes: Bytes,
    /// Their contents' length: without headers and padding.
    pub contents: Bytes,
    /// What of their size could be saved if each were there once.
    pub wasted: Bytes,
    /// How many different ones are there several times.
    pub repeated: u64,
}

/// A string that is there several times.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Duplicate {
    /// How it starts, as OCaml writes it, without the quotes.
    pub start: String,
    /// Whether there is more of it.
    pub cut: bool,
    /// Its length in bytes.
    pub length: u64,
    /// How often it is there.
    pub times: u64,
    /// What all but one of them take up, headers counted.
    pub wasted: Bytes,
    /// One of them.
    pub example: BlockIndex,
    /// Identifies its contents.
    #[serde(skip)]
    pub hash: u128,
}

/// What strings are put in order by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringOrder {
    /// What all but one of them take up.
    Wasted,
    /// How often it is there.
    Times,
    /// Its length.
    Length,
    /// How it starts.
    Name,
}

impl Strings {
    /// The strings whose starts are `wanted`, in order.
    pub fn select(
        &self,
        wanted: impl Fn(&str) -> bool,
        order: StringOrder,
        descending: bool,
    ) -> Vec<&Duplicate> {
        let mut rows: Vec<&Duplicate> =
            self.duplicates.iter().filter(|row| wanted(&row.start)).collect();
        match order {
            // They come with the most wasteful first.
            StringOrder::Wasted => rows.reverse(),
            StringOrder::Times => rows.sort_rows_by_key(|row| row.times),
            StringOrder::Length => rows.sort_rows_by_key(|row| row.length),
            StringOrder::Name => rows.sort_rows_by(|a, b| a.start.cmp(&b.start)),
        }
        if descending {
            rows.reverse();
        }
        rows
    }
}

/// So much of a string is shown.
const SHOWN: usize = 80;

struct Seen {
    start: Vec<u8>,
    length: u64,
    times: u64,
    example: BlockIndex,
}

/// A string whose pieces are being read.
#[derive(Default)]
struct Current {
    block: Option<BlockIndex>,
    hash: Xxh3Default,
    start: Vec<u8>,
    length: u64,
}

/// Find duplicate strings, at most `most` of them. `None` if the snapshot was
/// taken without contents.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn strings(heap: &Heap<'_>, most: usize) -> Result<Option<Strings>, Error> {
    if !heap.snapshot.has_contents() {
        return Ok(None);
    }
    let mut all = Strings::default();
    let mut seen: HashMap<u128, Seen, FxBuildHasher> = HashMap::default();
    let mut current = Current::default();
    let mut finish = |current: &mut Current| {
        if let Some(block) = current.block.take() {
            all.sums.strings += 1;
            all.sums.contents += Bytes(current.length);
            all.sums.bytes += size(current.length);
            let entry = seen.entry(current.hash.digest128()).or_insert_with(|| Seen {
                start: std::mem::take(&mut current.start),
                length: current.length,
                times: 0,
                example: block,
            });
            entry.times += 1;
        }
        current.hash.reset();
        current.start.clear();
        current.length = 0;
    };
    heap.snapshot.contents(|block, offset, text| {
        if offset == 0 {
            finish(&mut current);
            current.block = heap.graph.is_reachable(block).then_some(block);
        }
        current.hash.update(text);
        current.length += text.len() as u64;
        let room = SHOWN.saturating_sub(current.start.len()).min(text.len());
        current.start.extend_from_slice(&text[..room]);
    })?;
    finish(&mut current);
    for (hash, seen) in seen.into_iter().filter(|(_, seen)| seen.times > 1) {
        let cut = seen.length > seen.start.len() as u64;
        let wasted = Bytes(size(seen.length).0 * (seen.times - 1));
        all.sums.wasted += wasted;
        all.duplicates.push(Duplicate {
            start: escaped(&seen.start, cut),
            cut,
            length: seen.length,
            times: seen.times,
            wasted,
            example: seen.example,
            hash,
        });
    }
    all.sums.repeated = all.duplicates.len() as u64;
    all.duplicates.sort_rows_by(|a, b| b.wasted.cmp(&a.wasted).then(a.example.cmp(&b.example)));
    all.duplicates.truncate(most);
    Ok(Some(all))
}

/// The size of a string of this length, its header counted. The last word holds at least one byte of
/// padding.
const fn size(length: u64) -> Bytes {
    Bytes((length / 8 + 2) * 8)
}
