//! `Buffer.t`: the bytes, and those that it started with, which are the same until it grows. Then it is enlarged
//! to twice the size, again and again.
//!
//! Up to OCaml 5.1 the bytes are a field beside position, length and the first bytes; from 5.2 on, a record of
//! bytes and length is.

use super::arrays::Arrays;
use super::block_form::BlockForm;
use super::facts::Facts;
use super::types::{Found, Part};

/// The bytes of a buffer that has not grown have this many words at least, and a power of two of bytes. The sizes of
/// shorter strings are too coarse to tell one from another.
const MIN_WORDS: u64 = 33;

/// What may be a buffer.
struct Candidate {
    block: u32,
    /// The record of bytes and length.
    inner: Option<u32>,
    bytes: u32,
    first_bytes: u32,
}

fn candidates(facts: &Facts) -> impl Iterator<Item = Candidate> {
    let plain = facts.ends.iter().map(|(block, [bytes, first_bytes])| Candidate {
        block,
        inner: None,
        bytes,
        first_bytes,
    });
    let nested = facts.triples.iter().filter_map(|(block, [inner, _, first_bytes])| {
        // The middle field is an immediate, and so is the last of the record in the first.
        let is_nested =
            facts.form(block).mask(3) == Some(0b101) && facts.form(inner).mask(2) == Some(0b01);
        let [bytes, _] = facts.pairs.fields(facts.pairs.place(inner).filter(|_| is_nested)?);
        Some(Candidate { block, inner: Some(inner), bytes, first_bytes })
    });
    let is_string = |target: u32| facts.form(target) == BlockForm::STRING;
    plain.chain(nested).filter(move |some| is_string(some.bytes) && is_string(some.first_bytes))
}

/// Strings that may be those of buffers.
pub(super) fn wanted(facts: &Facts, found: &Found) -> Vec<u32> {
    let free = candidates(facts).filter(|some| found.is_free(some.block));
    let mut wanted: Vec<u32> = free.flat_map(|some| [some.bytes, some.first_bytes]).collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

/// Marks buffers.
pub(super) fn mark(facts: &Facts, arrays: &Arrays, found: &mut Found) {
    let words = |string: u32| arrays.strings.get(&string).copied().unwrap_or(0);
    for some in candidates(facts) {
        let (bytes, first) = (words(some.bytes), words(some.first_bytes));
        let is_buffer = if some.bytes == some.first_bytes {
            has_round_length(first)
        } else {
            has_grown(first, bytes)
        };
        if !is_buffer {
            continue;
        }
        match some.inner {
            None => _ = found.set(some.block, Part::Buffer),
            Some(inner) => {
                found.set(some.block, Part::NestedBuffer);
                found.set(inner, Part::BufferBytes);
            }
        }
    }
}

/// Whether bytes of so many words may be a power of two long.
fn has_round_length(words: u64) -> bool {
    words >= MIN_WORDS && (words - 1).is_power_of_two()
}

/// Whether a string of the `first` number of words is one of `words` after its length was doubled some times.
fn has_grown(first: u64, words: u64) -> bool {
    if first < MIN_WORDS || words <= first {
        return false;
    }
    // A string of n words has 8 n - 8 to 8 n - 1 bytes.
    let doubled = |times: u32| {
        Some((first - 1).checked_shl(times)?..=(first * 8 - 1).checked_shl(times)? / 8)
    };
    (1..48).filter_map(doubled).any(|range| range.contains(&(words - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of a string of so many bytes.
    const fn words(bytes: u64) -> u64 {
        bytes / 8 + 1
    }

    #[test]
    fn lengths_that_were_doubled_are_recognised() {
        for length in 256..2000u64 {
            for times in 1..10 {
                assert!(has_grown(words(length), words(length << times)), "{length} {times}");
            }
            assert!(!has_grown(words(length), words(length)));
            assert!(!has_grown(words(length), words(length * 3)), "{length}");
            assert_eq!(
                has_round_length(words(length)),
                (length & !7).is_power_of_two(),
                "{length}"
            );
        }
    }
}
