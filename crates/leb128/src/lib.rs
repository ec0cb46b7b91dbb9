//! Numbers of variable length ([LEB128](https://dwarfstd.org/doc/DWARF5.pdf), §7.6), and a cursor over
//! bytes that cannot run over: what the files of snapshots and of types are made of.
#![forbid(unsafe_code)]
#![no_std]

extern crate alloc;

use alloc::string::String;
use alloc::vec::Vec;

/// Appends a number, seven bits a byte, low ones first; the top bit says that more follow.
#[inline]
pub fn put(into: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

/// Appends bytes with their length before them.
pub fn put_bytes(into: &mut Vec<u8>, bytes: &[u8]) {
    put(into, bytes.len() as u64);
    into.extend_from_slice(bytes);
}

/// A signed number as one that is small when it is near 0.
#[inline]
#[must_use]
pub const fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// The reverse of [`zigzag`].
#[inline]
#[must_use]
pub const fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Reads on from a place in bytes. `None` is the end, or a number that is too long.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor before the first byte.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes were read.
    #[must_use]
    pub const fn at(&self) -> usize {
        self.at
    }

    /// Whether all bytes were read.
    #[must_use]
    pub const fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// How many bytes are left.
    #[must_use]
    pub const fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next byte.
    #[inline]
    pub fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// The next number, up to 64 bits.
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        let first = self.byte()?;
        if first < 0x80 {
            return Some(u64::from(first));
        }
        let mut number = u64::from(first & 0x7f);
        let mut shift = 7;
        loop {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
            if shift > 63 {
                return None;
            }
        }
    }

    /// A number that counts things of which each takes a byte at least.
    pub fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.left()).then_some(count)
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }

    /// Bytes with their length before them.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.count()?;
        self.take(count)
    }

    /// Text with its length before it; what is not UTF-8 is replaced.
    pub fn text(&mut self) -> Option<String> {
        Some(String::from_utf8_lossy(self.bytes()?).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(number: u64, signed: i64) {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            put(&mut bytes, zigzag(signed));
            let mut cursor = Cursor::new(&bytes);
            prop_assert_eq!(cursor.number(), Some(number));
            prop_assert_eq!(cursor.number().map(unzigzag), Some(signed));
            prop_assert_eq!(cursor.number(), None);
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_none() {
        assert_eq!(Cursor::new(&[0xff; 11]).number(), None);
        assert_eq!(
            Cursor::new(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]).number(),
            None
        );
        assert_eq!(Cursor::new(&[5, 1]).count(), None);
    }
}
