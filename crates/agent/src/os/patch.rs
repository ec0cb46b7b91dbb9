//! Redirects a function of the runtime to one of ours by overwriting its first instructions.
//!
//! Used for a function that the runtime calls directly, so that interposition cannot reach it.
//! Done once, before the program's own code runs, while the process has one thread.

use std::ffi::{CStr, c_void};
use std::io;

use memtrail_ocaml::heap::loaded::each_object;
use memtrail_ocaml::memory::ThisProcess;

use crate::context::runtime::symbol;

#[cfg(target_arch = "x86_64")]
const JUMP: usize = 14;
#[cfg(target_arch = "aarch64")]
const JUMP: usize = 16;

/// Lets calls of the function of this name arrive at `ours`. Fails if there is none, if it is too small
/// to hold the jump, or if its memory cannot be written.
pub(crate) fn redirect(name: &str, ours: *const c_void) -> io::Result<()> {
    let target = symbol(name).cast::<u8>();
    if target.is_null() || size_of_function(name) < JUMP {
        return Err(io::Error::from(io::ErrorKind::Unsupported));
    }
    write_code(target, &jump(ours as u64))
}

#[cfg(target_arch = "x86_64")]
fn jump(to: u64) -> [u8; JUMP] {
    // jmp *0(%rip); .quad to: changes no register.
    let mut code = [0xff, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    code[6..].copy_from_slice(&to.to_le_bytes());
    code
}

#[cfg(target_arch = "aarch64")]
fn jump(to: u64) -> [u8; JUMP] {
    // ldr x16, #8; br x16; .quad to: x16 is free at any call.
    let mut code = [0x50, 0, 0, 0x58, 0, 0x02, 0x1f, 0xd6, 0, 0, 0, 0, 0, 0, 0, 0];
    code[8..].copy_from_slice(&to.to_le_bytes());
    code
}

unsafe extern "C" {
    /// The linker's list of what is loaded.
    static _r_debug: u8;
}

/// Size of a function that the program or a library of its exports; 0 if it is not known.
///
/// `dladdr` would look through all symbols, which are a hundred thousand in some programs.
pub(crate) fn size_of_function(name: &str) -> usize {
    let mut size = None;
    // SAFETY: the linker's tables are mapped, and nothing is loaded or unloaded meanwhile.
    let memory = unsafe { ThisProcess::new() };
    each_object(&memory, (&raw const _r_debug) as u64, |object| {
        size = size.or_else(|| Some(object.symbol(&memory, name.as_bytes())?.size));
    });
    size.unwrap_or(0) as usize
}

/// Overwrites code. Threads that execute it meanwhile may see half of it.
pub(crate) fn write_code(target: *mut u8, code: &[u8]) -> io::Result<()> {
    // Through /proc the kernel writes pages that are not writable; mprotect is the second choice,
    // where /proc is not mounted.
    let path: &CStr = c"/proc/self/mem";
    // SAFETY: plain system calls; the bytes go to code that this process owns.
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
    #[cfg(target_arch = "aarch64")]
    flush_instructions(target, code.len());
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

#[cfg(target_arch = "aarch64")]
pub(crate) fn flush_instructions(target: *mut u8, length: usize) {
    unsafe extern "C" {
        fn __clear_cache(begin: *mut u8, end: *mut u8);
    }
    // SAFETY: the range was just written.
    unsafe { __clear_cache(target, target.add(length)) };
}
