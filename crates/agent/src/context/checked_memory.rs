//! The memory of this process, read through the kernel: what is not mapped any more is absent, instead of a fault.
//!
//! Unlike [`Probed`](memtrail_ocaml::memory::Probed) it takes no descriptor, so that it can be used at any moment. Each
//! read is a system call.

use std::ffi::c_void;

use memtrail_ocaml::memory::{Address, Memory};

/// This process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckedMemory;

/// Maximum number of bytes of a string that are read at once; no part crosses the end of a page.
const PART: u64 = 64;

/// Reads what is there from an address on, and gives how much that is.
fn read(from: Address, into: &mut [u8]) -> usize {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote = libc::iovec {
        iov_base: std::ptr::without_provenance_mut::<c_void>(from as usize),
        iov_len: into.len(),
    };
    // SAFETY: writes into the slice alone, and fails where there is nothing to be read.
    let count = unsafe {
        libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0)
    };
    usize::try_from(count).unwrap_or(0)
}

impl Memory for CheckedMemory {
    fn bytes<const N: usize>(&self, at: Address) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        (read(at, &mut bytes) == N).then_some(bytes)
    }

    fn c_string<'a>(&self, at: Address, into: &'a mut [u8]) -> Option<&'a [u8]> {
        let mut length = 0;
        while length < into.len() {
            let from = at.checked_add(length as u64)?;
            let part = (PART - from % PART) as usize;
            let end = into.len().min(length + part);
            let slots = into.get_mut(length..end)?;
            if read(from, slots) != slots.len() {
                return None;
            }
            if let Some(last) = slots.iter().position(|&byte| byte == 0) {
                return into.get(..length + last);
            }
            length = end;
        }
        Some(into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mapped_is_read_and_what_is_not_is_absent() {
        let text = b"caml_ba_alloc\0after".to_vec();
        let at = text.as_ptr() as u64;
        assert_eq!(CheckedMemory.bytes::<4>(at), Some(*b"caml"));
        assert_eq!(CheckedMemory.u64(8), None);
        let mut into = [0; 100];
        assert_eq!(CheckedMemory.c_string(at, &mut into), Some(&b"caml_ba_alloc"[..]));
        assert_eq!(CheckedMemory.c_string(at, &mut into[..4]), Some(&b"caml"[..]));
        assert_eq!(CheckedMemory.c_string(8, &mut into), None);
        let long = [vec![b'x'; 1000], vec![0]].concat();
        let mut into = [0; 2000];
        let read = CheckedMemory.c_string(long.as_ptr() as u64, &mut into);
        assert_eq!(read, Some(&long[..1000]));
    }
}
