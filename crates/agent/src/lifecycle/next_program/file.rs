//! An open file that is read at offsets. Nothing is allocated.

use std::ffi::{CStr, c_int};

/// The file, closed when it goes.
pub(super) struct File(c_int);

impl File {
    /// `None` if it cannot be read.
    pub(super) fn open(path: &CStr) -> Option<Self> {
        let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY;
        // SAFETY: a C string.
        let descriptor = unsafe { libc::open(path.as_ptr(), flags) };
        (descriptor >= 0).then_some(Self(descriptor))
    }

    /// Reads what stands at an offset; how much there is.
    pub(super) fn read(&self, offset: u64, into: &mut [u8]) -> usize {
        let Ok(offset) = libc::off_t::try_from(offset) else { return 0 };
        // SAFETY: a buffer of this size.
        let read = unsafe { libc::pread(self.0, into.as_mut_ptr().cast(), into.len(), offset) };
        usize::try_from(read).unwrap_or(0)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: opened here, and nobody else has it.
        unsafe { libc::close(self.0) };
    }
}
