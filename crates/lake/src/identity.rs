//! Ids: hashes of content, equal in all recordings. In a lake that is given away they are keyed, so that nobody finds a
//! name by hashing guesses.

use sha2::{Digest as _, Sha256};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a key.
pub const KEY_BYTES: usize = 32;

/// Makes ids.
#[derive(Clone, Debug, Default)]
pub struct Hasher {
    key: Option<[u8; KEY_BYTES]>,
}

impl Hasher {
    /// Hashes by a secret key.
    pub const fn keyed(key: [u8; KEY_BYTES]) -> Self {
        Self { key: Some(key) }
    }

    /// Hash of some bytes.
    pub fn hash(&self, bytes: &[u8]) -> i64 {
        let Some(key) = &self.key else { return xxh3_64(bytes) as i64 };
        let digest = Sha256::new().chain_update(key).chain_update(bytes).finalize();
        let first = digest.first_chunk::<8>().copied().unwrap_or_default();
        i64::from_le_bytes(first)
    }

    /// Hash of some texts, which may contain any bytes.
    pub fn of_texts(&self, texts: &[&str]) -> i64 {
        let mut bytes = Vec::new();
        for text in texts {
            bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        self.hash(&bytes)
    }

    /// Hash of two ids in this order.
    pub fn of_pair(&self, first: i64, second: i64) -> i64 {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&first.to_le_bytes());
        bytes[8..].copy_from_slice(&second.to_le_bytes());
        self.hash(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_depend_on_content_and_key_alone() {
        let (plain, one, other) =
            (Hasher::default(), Hasher::keyed([1; KEY_BYTES]), Hasher::keyed([2; KEY_BYTES]));
        assert_eq!(plain.hash(b"Cache.add"), Hasher::default().hash(b"Cache.add"));
        assert_eq!(one.hash(b"Cache.add"), Hasher::keyed([1; KEY_BYTES]).hash(b"Cache.add"));
        let all = [&plain, &one, &other].map(|hasher| hasher.hash(b"Cache.add"));
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2], "{all:?}");
    }

    #[test]
    fn texts_do_not_run_into_each_other() {
        let hasher = Hasher::default();
        assert_ne!(hasher.of_texts(&["ab", "c"]), hasher.of_texts(&["a", "bc"]));
        assert_ne!(hasher.of_pair(1, 2), hasher.of_pair(2, 1));
    }
}
