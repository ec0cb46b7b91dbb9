//! Redirects a function of the runtime to one of ours by overwriting its first instructions.
//!
//! Used for a function that the runtime calls directly, so that interposition cannot reach it.
//! Done before the program's own code runs, or while no thread is in the function.

use std::ffi::{CStr, c_void};
use std::io;

use crate::os::far_jump::{FAR_JUMP, far_jump};

/// A function whose calls arrive at ours.
#[derive(Clone, Copy)]
pub(crate) struct Redirection {
    function: u64,
    original: [u8; FAR_JUMP],
}

impl Redirection {
    /// Lets calls arrive at the function itself again.
    ///
    /// # Safety
    /// No thread runs the function's first instructions meanwhile.
    pub(crate) unsafe fn undo(&self) -> io::Result<()> {
        // SAFETY: as the caller promises; these are the function's own instructions.
        unsafe { write_code(self.function as *mut u8, &self.original) }
    }
}

/// Lets calls of a function arrive at `ours`. Fails if its `size` is too small to hold the jump, or if
/// its memory cannot be written.
///
/// # Safety
/// `function` is null, or the address of a function of so many bytes; `ours` can be called in its place. No
/// thread runs the function's first instructions meanwhile.
pub(crate) unsafe fn redirect(
    function: *mut u8,
    size: usize,
    ours: *const c_void,
) -> io::Result<Redirection> {
    if function.is_null() || size < FAR_JUMP {
        return Err(io::Error::from(io::ErrorKind::Unsupported));
    }
    // SAFETY: as the caller promises; the jump is within the function.
    unsafe {
        let original = function.cast::<[u8; FAR_JUMP]>().read();
        write_code(function, &far_jump(ours as u64))?;
        Ok(Redirection { function: function as u64, original })
    }
}

/// Overwrites code. Threads that execute it meanwhile may see half of it.
///
/// # Safety
/// `target` is the address of `code.len()` bytes of code, which may be replaced by `code`: whoever
/// executes it finds instructions that are right there.
pub(crate) unsafe fn write_code(target: *mut u8, code: &[u8]) -> io::Result<()> {
    // Through /proc the kernel writes pages that are not writable; mprotect is the second choice,
    // where /proc is not mounted.
    let path: &CStr = c"/proc/self/mem";
    // SAFETY: plain system calls; the bytes go where the caller says that they may.
    let done = unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        let written = if fd >= 0 {
            let n = libc::pwrite(fd, code.as_ptr().cast(), code.len(), target as libc::off_t);
            libc::close(fd);
            n
        } else {
            -1
        };
        written == code.len() as isize || write_by_mprotect(target, code)
    };
    if !done {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the range was just written.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        flush_instructions(target, code.len());
    }
    Ok(())
}

/// # Safety
/// `target` must be the address of `code.len()` bytes of code.
unsafe fn write_by_mprotect(target: *mut u8, code: &[u8]) -> bool {
    // SAFETY: as the caller promises; the pages stay executable throughout.
    unsafe {
        let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
        let start = target as usize & !(page - 1);
        let length = (target as usize + code.len()).next_multiple_of(page) - start;
        let pages = start as *mut c_void;
        let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        if libc::mprotect(pages, length, all) != 0 {
            return false;
        }
        target.copy_from_nonoverlapping(code.as_ptr(), code.len());
        libc::mprotect(pages, length, libc::PROT_READ | libc::PROT_EXEC) == 0
    }
}

/// Lets the processor see code that was just written.
///
/// # Safety
/// The range is mapped.
#[cfg(target_arch = "aarch64")]
pub(crate) unsafe fn flush_instructions(target: *mut u8, length: usize) {
    unsafe extern "C" {
        fn __clear_cache(begin: *mut u8, end: *mut u8);
    }
    // SAFETY: as the caller promises.
    unsafe { __clear_cache(target, target.add(length)) };
}
