//! Appends little-endian primitives to a slice. What does not fit is counted but not written.

use crate::wire::{VINT_I32, VINT_I63, VINT_U16};

/// A position in a slice.
pub(super) struct Sink<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl<'a> Sink<'a> {
    pub(super) fn new(bytes: &'a mut [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// Where the next byte goes.
    #[inline]
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Where the next byte goes, unless something did not fit.
    pub(super) fn finish(&self) -> Option<usize> {
        (self.at <= self.bytes.len()).then_some(self.at)
    }

    #[inline]
    fn array<const N: usize>(&mut self, array: [u8; N]) {
        if let Some(to) = self.bytes.get_mut(self.at..).and_then(<[u8]>::first_chunk_mut) {
            *to = array;
        }
        self.at += N;
    }

    pub(super) fn u8(&mut self, value: u8) {
        self.array([value]);
    }

    #[inline]
    pub(super) fn u16(&mut self, value: u16) {
        self.array(value.to_le_bytes());
    }

    #[inline]
    pub(super) fn u32(&mut self, value: u32) {
        self.array(value.to_le_bytes());
    }

    #[inline]
    pub(super) fn u64(&mut self, value: u64) {
        self.array(value.to_le_bytes());
    }

    pub(super) fn vint(&mut self, value: i64) {
        match value {
            0..=252 => self.u8(value as u8),
            253..=0xFFFF => {
                self.u8(VINT_U16);
                self.u16(value as u16);
            }
            _ => {
                if let Ok(value) = i32::try_from(value) {
                    self.u8(VINT_I32);
                    self.u32(value as u32);
                } else {
                    self.u8(VINT_I63);
                    self.u64(value as u64);
                }
            }
        }
    }

    /// Bytes without a NUL, and a NUL.
    pub(super) fn string(&mut self, string: &[u8]) {
        let end = self.at + string.len();
        if let Some(to) = self.bytes.get_mut(self.at..end) {
            to.copy_from_slice(string);
        }
        self.at = end;
        self.u8(0);
    }

    /// Overwrites what was written at `at`.
    #[inline]
    pub(super) fn patch<const N: usize>(&mut self, at: usize, array: [u8; N]) {
        if let Some(to) = self.bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
            *to = array;
        }
    }
}

/// The part of `bytes` before the first NUL, at most `limit` bytes.
pub(super) fn until_nul(bytes: &[u8], limit: usize) -> &[u8] {
    let bytes = bytes.get(..limit).unwrap_or(bytes);
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    bytes.get(..end).unwrap_or(bytes)
}
