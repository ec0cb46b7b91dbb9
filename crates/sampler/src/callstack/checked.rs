//! Words of memory that may not be there.

/// The word at an address; `None` if there is none. A system call.
pub(super) fn word(address: usize) -> Option<usize> {
    let mut found = 0_usize;
    let local = libc::iovec { iov_base: (&raw mut found).cast(), iov_len: size_of::<usize>() };
    let remote = libc::iovec {
        iov_base: std::ptr::without_provenance_mut(address),
        iov_len: size_of::<usize>(),
    };
    // SAFETY: writes into the variable alone, and fails where there is nothing to be read.
    let read = unsafe {
        libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0)
    };
    (read == size_of::<usize>() as isize).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_none() {
        let here = 4711_usize;
        assert_eq!(word((&raw const here).addr()), Some(4711));
        assert_eq!(word(0), None);
        assert_eq!(word(8), None);
        assert_eq!(word(usize::MAX - 7), None);
    }
}
