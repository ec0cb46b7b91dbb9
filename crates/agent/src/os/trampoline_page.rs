//! Short jumps from the program's code into this library, by way of a page within their reach.
//!
//! A jump to any address takes 14 bytes on amd64 and cannot be undone while other threads run the
//! function. One to a page nearby takes few enough to be written at once: a thread that is about to
//! execute it sees either the jump or what the function began with.

use std::ffi::c_void;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crate::os::far_jump::far_jump;
use crate::os::objects::object_of;
use crate::os::patch::write_code;

/// Furthest that the page may lie below the code. Nothing is put above, where programs and their
/// heaps grow.
#[cfg(target_arch = "x86_64")]
const REACH: usize = 1 << 30;
#[cfg(target_arch = "aarch64")]
const REACH: usize = 1 << 26;

const STEP: usize = 1 << 16;
const PAGE: usize = 1 << 16;
const SLOT: usize = 16;
/// No page of memory is smaller.
const MEMORY_PAGE: usize = 1 << 12;

/// A page of jumps to functions of ours, within reach of the object that holds `code`; its slots'
/// addresses, in the order of `functions`.
pub(crate) fn page(code: *mut c_void, functions: &[*const c_void]) -> io::Result<Vec<u64>> {
    let start = executable(code, |_| {
        let mut content = vec![0; functions.len() * SLOT];
        for (slot, function) in content.chunks_exact_mut(SLOT).zip(functions) {
            let jump = far_jump(*function as u64);
            slot[..jump.len()].copy_from_slice(&jump);
        }
        Ok(content)
    })?;
    Ok((0..functions.len()).map(|index| start + (index * SLOT) as u64).collect())
}

/// A page of code within reach of the object that holds `code`: `content` is told where it will be.
pub(crate) fn executable(
    code: *mut c_void,
    content: impl FnOnce(u64) -> io::Result<Vec<u8>>,
) -> io::Result<u64> {
    let page = map_below(start_of_object(code)?)?;
    let content = content(page as u64).and_then(|content| {
        let fits = content.len() <= PAGE;
        if fits { Ok(content) } else { Err(io::Error::from(io::ErrorKind::OutOfMemory)) }
    });
    let done = content.and_then(|content| {
        // SAFETY: the page was just mapped, is writable and large enough.
        let done = unsafe {
            page.copy_from_nonoverlapping(content.as_ptr(), content.len());
            libc::mprotect(page.cast(), PAGE, libc::PROT_READ | libc::PROT_EXEC)
        };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    });
    match done {
        Ok(()) => Ok(page as u64),
        Err(error) => {
            // SAFETY: mapped above, and given to no one.
            unsafe { libc::munmap(page.cast(), PAGE) };
            Err(error)
        }
    }
}

/// The page at which the object begins that holds `code`.
fn start_of_object(code: *mut c_void) -> io::Result<usize> {
    let start = object_of(code).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    Ok(start as usize & !(MEMORY_PAGE - 1))
}

fn map_below(start: usize) -> io::Result<*mut u8> {
    let top = start & !(STEP - 1);
    for distance in (STEP..REACH).step_by(STEP) {
        let Some(wanted) = top.checked_sub(distance + PAGE).filter(|at| *at > 0) else { break };
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh mapping, which replaces none.
        let page = unsafe { libc::mmap(wanted as *mut c_void, PAGE, access, flags, -1, 0) };
        if page as usize == wanted {
            return Ok(page.cast());
        }
        // Kernels before 4.17 take the address as a hint.
        if page != libc::MAP_FAILED {
            // SAFETY: mapped just now.
            unsafe { libc::munmap(page, PAGE) };
        }
    }
    Err(io::Error::from(io::ErrorKind::OutOfMemory))
}

/// The first bytes of a function with a jump to `slot` in place of its own: `None` if the jump does
/// not reach, or would not lie within one aligned word.
#[cfg(target_arch = "x86_64")]
fn with_jump(function: u64, slot: u64, original: u64) -> Option<u64> {
    const LENGTH: u64 = 5;
    let distance = (slot as i64).wrapping_sub(function as i64 + LENGTH as i64);
    let distance = i32::try_from(distance).ok()?;
    if !function.is_multiple_of(8) {
        return None;
    }
    // jmp rel32
    let jump = 0xe9 | u64::from(distance as u32) << 8;
    Some(original & !0xff_ffff_ffff | jump)
}

#[cfg(target_arch = "aarch64")]
fn with_jump(function: u64, slot: u64, original: u64) -> Option<u64> {
    let distance = (slot as i64).wrapping_sub(function as i64);
    if !function.is_multiple_of(8)
        || distance % 4 != 0
        || !(-(1 << 27)..1 << 27).contains(&distance)
    {
        return None;
    }
    // b
    let jump = 0x1400_0000 | (distance >> 2) as u64 & 0x3ff_ffff;
    Some(original & !0xffff_ffff | jump)
}

/// A function that is redirected, and can be given back at any time.
#[derive(Clone, Copy)]
pub(crate) struct CodeHook {
    function: u64,
    original: u64,
}

impl CodeHook {
    /// Redirects a function to a slot of a page.
    ///
    /// # Safety
    /// `function` is the address of a function of at least a jump's length, and the slot's function can be
    /// called in its place. The process has one thread.
    pub(crate) unsafe fn begin(function: *mut c_void, slot: u64) -> io::Result<Self> {
        let function = function as u64;
        // SAFETY: a function as the caller promises; what follows it is mapped up to the end of a word.
        let original = unsafe { (function as *const u64).read_unaligned() };
        let word = with_jump(function, slot, original)
            .ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))?;
        // SAFETY: as the caller promises; the word is aligned, its first bytes are the jump.
        unsafe { write_code(function as *mut u8, &word.to_le_bytes())? };
        Ok(Self { function, original })
    }

    /// Lets calls arrive at the function itself again, whatever other threads do meanwhile.
    pub(crate) fn end(&self) -> io::Result<()> {
        // SAFETY: only asks.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize };
        let start = self.function as usize & !(page - 1);
        let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        // SAFETY: the word is aligned and does not cross a page; the page stays executable.
        unsafe {
            if libc::mprotect(start as *mut c_void, page, all) == 0 {
                AtomicU64::from_ptr(self.function as *mut u64).store(self.original, SeqCst);
                libc::mprotect(start as *mut c_void, page, libc::PROT_READ | libc::PROT_EXEC);
                #[cfg(target_arch = "aarch64")]
                crate::os::patch::flush_instructions(self.function as *mut u8, 8);
                return Ok(());
            }
        }
        // Where code may not be made writable. The kernel copies eight bytes by one instruction.
        // SAFETY: what stood there when it was redirected.
        unsafe { write_code(self.function as *mut u8, &self.original.to_le_bytes()) }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::ptr;

    use super::*;

    #[test]
    fn a_jump_is_planned_only_where_one_word_holds_it() {
        let original = 0x1122_3344_5566_7788;
        // jmp rel32, and the three bytes that follow stay.
        assert_eq!(with_jump(0x1000, 0x2000, original), Some(0x1122_3300_000f_fbe9));
        assert_eq!(with_jump(0x2000, 0x1000, original), Some(0x1122_33ff_ffef_fbe9));
        assert_eq!(with_jump(0x1004, 0x2000, original), None, "across two words");
        assert_eq!(with_jump(0x1000, 0x1000 + (1 << 32), original), None, "too far");
    }

    extern "C" fn theirs() -> i32 {
        std::hint::black_box(1)
    }

    extern "C" fn ours() -> i32 {
        std::hint::black_box(2)
    }

    type Function = extern "C" fn() -> i32;

    /// A function on a page of its own that gives 3, with room for any jump.
    fn function() -> Function {
        let code = [0xb8, 3, 0, 0, 0, 0xc3];
        // SAFETY: a fresh page, which is then code that is whole.
        unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let page = libc::mmap(ptr::null_mut(), 4096, access, flags, -1, 0);
            assert_ne!(page, libc::MAP_FAILED);
            page.cast::<u8>().write_bytes(0x90, 4096);
            page.cast::<u8>().copy_from_nonoverlapping(code.as_ptr(), code.len());
            libc::mprotect(page, 4096, libc::PROT_READ | libc::PROT_EXEC);
            std::mem::transmute::<*mut c_void, Function>(page)
        }
    }

    #[test]
    fn slots_within_reach_lead_to_our_functions() {
        let code = theirs as Function as *mut c_void;
        let ours = [ours as Function as *const c_void, theirs as Function as *const c_void];
        let slots = page(code, &ours).unwrap();
        for (slot, result) in slots.iter().zip([2, 1]) {
            assert!((code as u64).abs_diff(*slot) < 2 << 30, "within reach");
            // SAFETY: a slot is a jump to such a function.
            let slot =
                unsafe { std::mem::transmute::<*mut c_void, Function>(*slot as *mut c_void) };
            assert_eq!(slot(), result);
        }
    }

    #[test]
    fn a_far_jump_takes_the_place_of_a_function() {
        let redirected = function();
        assert_eq!(redirected(), 3);
        let at = (redirected as *mut c_void).cast();
        let ours = ours as Function as *const c_void;
        // SAFETY: a function of our own, which nobody else calls.
        unsafe {
            assert!(crate::os::patch::redirect(at, 13, ours).is_err(), "no room");
            assert!(crate::os::patch::redirect(ptr::null_mut(), 99, ours).is_err(), "none");
            crate::os::patch::redirect(at, 14, ours).unwrap();
        }
        assert_eq!(redirected(), 2);
    }
}
