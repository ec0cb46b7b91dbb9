//! The threads of the process: where their stacks and thread-local variables are.
//!
//! The thread control block of glibc begins with its own address, has it once more, and has the thread's id. It is at
//! the end of the thread's stack, and thread-local variables are before it. On other processors than x86-64 it is not
//! known: there stacks are memory of unknown use.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use memtrail_ocaml::Memory;

use super::areas::{Area, Areas};
use super::pages::Pages;
use crate::os::symbol::symbol;

/// Where its address is once more, and the thread's id, in words and bytes.
const AGAIN: u64 = 16;
const ID: u64 = 0x2d0;
/// Its size, at most.
const CONTROL_BLOCK: u64 = 0x900;
const ALIGNMENT: usize = 64;
/// Of all thread-local variables, if libc does not tell.
const USUAL_TLS: u64 = 4096;

static TLS: AtomicU64 = AtomicU64::new(0);

/// Asks the dynamic linker how much thread-local data there is. To be called before the process is copied.
pub(crate) fn prepare() {
    let address = symbol("_dl_get_tls_static_info");
    if address.is_null() {
        return;
    }
    let (mut size, mut alignment) = (0_usize, 0_usize);
    // SAFETY: the function of this name has this type in all versions of glibc for this processor.
    unsafe {
        let ask = std::mem::transmute::<
            *mut std::ffi::c_void,
            unsafe extern "C" fn(*mut usize, *mut usize),
        >(address);
        ask(&raw mut size, &raw mut alignment);
    }
    TLS.store(size as u64, Relaxed);
}

/// A thread.
pub(crate) struct Thread {
    /// 0 if it has ended, and its stack waits for the next one.
    pub(crate) id: u32,
    /// Its stack; of the main thread, without what is on it.
    pub(crate) stack: Area,
    /// Thread-local variables, and what libc has of the thread.
    pub(crate) local: Area,
}

/// The threads whose ids are in a list, and those that have ended, in order of their stacks.
pub(crate) fn threads(
    memory: &impl Memory,
    areas: &Areas,
    pages: &mut Pages,
    ids: &[u32],
) -> Vec<Thread> {
    let mut found: Vec<Thread> = Vec::new();
    if !cfg!(target_arch = "x86_64") {
        return found;
    }
    let tls = match TLS.load(Relaxed) {
        0 => USUAL_TLS,
        size => size.saturating_sub(CONTROL_BLOCK),
    };
    for area in &areas.anonymous {
        let mut start = area.start;
        pages.each(area, |part| {
            let first = part.start.next_multiple_of(ALIGNMENT as u64);
            for at in (first..part.end).step_by(ALIGNMENT) {
                if at < start || memory.u64(at) != Some(at) || at + CONTROL_BLOCK > area.end {
                    continue;
                }
                if memory.field(at, AGAIN) != Some(at) {
                    continue;
                }
                let Some(id) = memory.u32(at + ID).filter(|id| *id == 0 || ids.contains(id)) else {
                    continue;
                };
                let local = at.saturating_sub(tls).max(start)..at + CONTROL_BLOCK;
                let is_main = ids.first() == Some(&id);
                let stack = if is_main { local.start } else { start }..local.start;
                start = local.end;
                found.push(Thread { id, stack, local });
            }
        });
    }
    found
}
