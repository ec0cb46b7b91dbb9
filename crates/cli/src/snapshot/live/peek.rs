//! The memory of a process that is stopped or runs, read by pages that are kept.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use memtrail_ocaml::Memory;

/// The memory of the process, read by pages.
pub(crate) struct Peek<'a> {
    read: &'a Read<'a>,
    pages: RefCell<HashMap<u64, Option<Box<Page>>>>,
}

const PAGE: usize = 4096;
type Page = [u8; PAGE];
/// Reads bytes at an address; false unless all of them are there.
pub(crate) type Read<'a> = dyn Fn(u64, &mut [u8]) -> bool + 'a;

impl<'a> Peek<'a> {
    pub(crate) fn new(read: &'a Read<'a>) -> Self {
        Self { read, pages: RefCell::default() }
    }

    /// Reads bytes of one page.
    fn within(&self, at: u64, into: &mut [u8]) -> Option<()> {
        let (start, offset) = (at & !(PAGE as u64 - 1), at as usize % PAGE);
        let mut pages = self.pages.borrow_mut();
        let page = pages.entry(start).or_insert_with(|| {
            let mut page = Box::new([0; PAGE]);
            (self.read)(start, page.as_mut_slice()).then_some(page)
        });
        into.copy_from_slice(page.as_ref()?.get(offset..offset + into.len())?);
        Some(())
    }
}

impl Memory for Peek<'_> {
    fn bytes<const N: usize>(&self, at: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        at.checked_add(N as u64)?;
        if at as usize % PAGE + N <= PAGE {
            self.within(at, &mut bytes)?;
            return Some(bytes);
        }
        for (byte, at) in bytes.iter_mut().zip(at..) {
            self.within(at, std::slice::from_mut(byte))?;
        }
        Some(bytes)
    }
}

/// Opens the memory of a process; the bytes at an address of it are those at this offset of the file.
pub(super) fn open(pid: u32) -> io::Result<File> {
    File::open(format!("/proc/{pid}/mem"))
}

/// Reads bytes at an address of a process whose memory was opened.
pub(super) fn read_at(memory: &File) -> impl Fn(u64, &mut [u8]) -> bool {
    |at, into| memory.read_exact_at(into, at).is_ok()
}
