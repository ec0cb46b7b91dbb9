//! Strings that are there several times.

use hashbrown::HashMap;
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
    /// Strings that something keeps alive.
    pub strings: u64,
    /// Their size, headers counted.
    pub bytes: Bytes,
    /// Their contents' length: without headers and padding.
    pub contents: Bytes,
    /// What of their size could be saved if each were there once.
    pub wasted: Bytes,
    /// How many different ones are there several times.
    pub repeated: u64,
    /// Those that are there several times, most wasteful first; of very many only the first.
    pub duplicates: Vec<Duplicate>,
}

/// A string that is there several times.
#[derive(Clone, Debug, Serialize)]
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
            all.strings += 1;
            all.contents += Bytes(current.length);
            all.bytes += size(current.length);
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
    for seen in seen.into_values().filter(|seen| seen.times > 1) {
        let cut = seen.length > seen.start.len() as u64;
        let wasted = Bytes(size(seen.length).0 * (seen.times - 1));
        all.wasted += wasted;
        all.duplicates.push(Duplicate {
            start: escaped(&seen.start, cut),
            cut,
            length: seen.length,
            times: seen.times,
            wasted,
            example: seen.example,
        });
    }
    all.repeated = all.duplicates.len() as u64;
    all.duplicates.sort_by(|a, b| b.wasted.cmp(&a.wasted).then(a.example.cmp(&b.example)));
    all.duplicates.truncate(most);
    Ok(Some(all))
}

/// The size of a string of this length, its header counted. The last word holds at least one byte of
/// padding.
const fn size(length: u64) -> Bytes {
    Bytes((length / 8 + 2) * 8)
}
