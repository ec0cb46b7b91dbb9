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

/// The integer that `Hashtbl.hash` gives for a string (`caml_hash_mix_string`): tags of dynamic values are made so.
pub fn string_hash(text: &[u8]) -> i64 {
    const fn mix(sum: u32, word: u32) -> u32 {
        let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        (sum ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
    }
    let (words, rest) = text.as_chunks::<4>();
    let mut sum = words.iter().fold(0, |sum, word| mix(sum, u32::from_le_bytes(*word)));
    if !rest.is_empty() {
        sum = mix(sum, rest.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)));
    }
    sum ^= text.len() as u32;
    sum = (sum ^ sum >> 16).wrapping_mul(0x85eb_ca6b);
    sum = (sum ^ sum >> 13).wrapping_mul(0xc2b2_ae35);
    i64::from((sum ^ sum >> 16) & 0x3fff_ffff)
}

/// Calls `each` with what may be names of variants in the strings of memory that the compiler laid out:
/// every identifier, as often as it is there.
pub fn identifiers(words: &[u64], mut each: impl FnMut(&[u8])) {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'\'');
    let is_start = |name: &&[u8]| name.first().is_some_and(|byte| !byte.is_ascii_digit());
    strings(words, |text| text.split(|byte| !is_part(byte)).filter(is_start).for_each(&mut each));
}

/// Calls `each` with the strings of memory that the compiler laid out.
pub fn strings(words: &[u64], mut each: impl FnMut(&[u8])) {
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
        each(&text);
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

    #[test]
    fn hashes_of_strings_are_those_of_the_runtime() {
        // Printed by `Hashtbl.hash "page"` and the like.
        for (text, known) in [
            ("", 0),
            ("a", 721_651_713),
            ("int", 984_713_658),
            ("page", 289_764_035),
            ("constr", 1_061_963_337),
            ("Dyn.t of x", 1_048_670_420),
        ] {
            assert_eq!(string_hash(text.as_bytes()), known, "{text}");
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
