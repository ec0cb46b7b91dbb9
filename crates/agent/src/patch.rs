//! Redirects a function of the runtime to one of ours by overwriting its first instructions.
//!
//! Used for a function that the runtime calls directly, so that interposition cannot reach it.
//! Done once, before the program's own code runs, while the process has one thread.

use std::ffi::{CStr, c_void};
use std::io;
use std::mem;

#[cfg(target_arch = "x86_64")]
const JUMP: usize = 14;
#[cfg(target_arch = "aarch64")]
const JUMP: usize = 16;

/// Lets calls of `function` (of the symbol `name`) arrive at `ours`. Fails if the function is too
/// small to hold the jump or its memory cannot be written.
pub(crate) fn redirect(function: *mut c_void, ours: *const c_void) -> io::Result<()> {
    let target = function.cast::<u8>();
    if size_of_function(function) < JUMP {
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

#[repr(C)]
struct ElfSymbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

unsafe extern "C" {
    fn dladdr1(
        address: *const c_void,
        info: *mut libc::Dl_info,
        extra: *mut *mut c_void,
        flags: libc::c_int,
    ) -> libc::c_int;
}
const RTLD_DL_SYMENT: libc::c_int = 1;

/// Size of an exported function; 0 if it is not known.
pub(crate) fn size_of_function(function: *mut c_void) -> usize {
    let mut symbol: *mut c_void = std::ptr::null_mut();
    // SAFETY: an all-zero Dl_info is valid, and both out-pointers are.
    let found = unsafe {
        let mut info: libc::Dl_info = mem::zeroed();
        dladdr1(function, &raw mut info, &raw mut symbol, RTLD_DL_SYMENT)
    };
    if found == 0 || symbol.is_null() {
        return 0;
    }
    // SAFETY: glibc hands out a pointer into the loaded symbol table.
    unsafe { (*symbol.cast::<ElfSymbol>()).size as usize }
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
