//! Polymorphic variants: programs have the hashes of their names only (`typing/btype.ml`, `runtime/hash.c`).

use crate::block::{COLOUR_STATIC, tag, wosize};

/// Longer strings are texts, in which a word is hardly a name.
const MAX_WORDS: u64 = 128;

/// The integer that a polymorphic variant of this name is (`hash_variant`).
pub fn hash(name: &[u8]) -> i64 {
    let sum =
        name.iter().fold(0u64, |sum, &byte| sum.wrapping_mul(223).wrapping_add(u64::from(byte)));
    // 31 bits, of which the highest is the sign.
    (sum << 33) as i64 >> 33
}

/// Calls `each` with what may be names of variants in the strings of memory that the compiler laid out:
/// every identifier, as often as it is there.
pub fn identifiers(words: &[u64], mut each: impl FnMut(&[u8])) {
    let mut text = Vec::new();
    let mut at = 0;
    while let Some(&header) = words.get(at) {
        at += 1;
        let size = wosize(header);
        // Static blocks are black. Other words may look so: all that comes of it are names that are none.
        if header as u8 != tag::STRING
            || header >> 8 & 3 != COLOUR_STATIC
            || size == 0
            || size > MAX_WORDS
        {
            continue;
        }
        let Some(string) = words.get(at..at + size as usize) else { continue };
        let padding = string.last().map_or(0, |last| (last >> 56) as usize);
        if padding > 7 {
            continue;
        }
        text.clear();
        text.extend(string.iter().flat_map(|word| word.to_le_bytes()));
        text.truncate(text.len() - 1 - padding);
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'\'');
        let is_start = |name: &&[u8]| name.first().is_some_and(|byte| !byte.is_ascii_digit());
        text.split(|byte| !is_part(byte)).filter(is_start).for_each(&mut each);
        at += size as usize;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::block::header;

    /// As `Btype.hash_variant` computes it, on integers of 63 bits.
    fn oracle(name: &[u8]) -> i64 {
        let mut sum: i128 = 0;
        for &byte in name {
            sum = (223 * sum + i128::from(byte)) & ((1 << 63) - 1);
        }
        let sum = sum & ((1 << 31) - 1);
        (if sum > 0x3FFF_FFFF { sum - (1 << 31) } else { sum }) as i64
    }

    #[test]
    fn hashes_are_those_of_the_compiler() {
        // Printed by `(Obj.magic `Assoc : int)` and the like.
        for (name, known) in
            [("A", 65), ("Foo", 3_505_894), ("Assoc", 963_043_957), ("Null", 870_828_711)]
        {
            assert_eq!(hash(name.as_bytes()), known, "{name}");
        }
    }

    proptest! {
        #[test]
        fn hashes_are_those_of_the_oracle(name in prop::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(hash(&name), oracle(&name));
        }

        #[test]
        fn any_words_are_survived(words in prop::collection::vec(any::<u64>(), 0..64), at in 0..64usize) {
            let mut words = words;
            if let Some(word) = words.get_mut(at) {
                *word = header(2, tag::STRING, 3);
            }
            identifiers(&words, |name| assert!(name.first().is_some_and(|byte| !byte.is_ascii_digit())));
        }
    }

    #[test]
    fn identifiers_are_found_in_strings() {
        let text = *b"`Assoc of x2, 3d\0\0\0\0\0\0\0\x07";
        let mut words = vec![7, header(3, tag::STRING, 3)];
        words.extend(text.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)));
        words.push(header(9, tag::STRING, 3));
        let mut found = Vec::new();
        identifiers(&words, |name| found.push(String::from_utf8_lossy(name).into_owned()));
        assert_eq!(found, ["Assoc", "of", "x2"]);
    }
}
