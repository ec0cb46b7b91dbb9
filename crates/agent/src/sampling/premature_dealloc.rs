//! Keeps OCaml 5.3 from reporting the death of blocks that another domain is about to promote.
//!
//! At the end of a minor collection each domain looks which of its sampled blocks survived. 5.3 does
//! so (`caml_memprof_after_minor_gc`, `runtime/minor_gc.c`) when the domain itself is done, not when
//! all are: a block that another domain promotes a moment later passes for dead, though it lives on
//! (ocaml/ocaml#14057). 5.4 looks after the barrier at the collection's end, and so does this: the
//! early call is taken out, and made up for where the domain has left the barrier, at the call of
//! `caml_final_update_last_minor`. That follows on every path, for the same domain, while its minor
//! heap is as it was, and before anything is allocated or any callback runs.
//!
//! Both are single `call` instructions, changed while no thread executes them. If there is
//! any doubt which they are, nothing is changed, and the recording says so. So far only amd64's calls
//! are known here.
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, unused_imports, reason = "nothing is mended there")
)]

use std::ffi::c_void;
use std::mem;
use std::slice;
use std::sync::OnceLock;

use memtrail_ocaml::{Version, symbols};

use crate::context::functions::size_of_function;
use crate::context::runtime::OcamlRuntime;
use crate::os::lock::Lock;
use crate::os::objects::find_in_objects;
use crate::os::patch::write_code;
use crate::os::symbol::symbol;
use crate::os::trampoline_page;

const NOTE: &str = "with several domains, sampled blocks that live on may be reported as collected in \
     the minor heap (ocaml/ocaml#14057): the runtime's code is not as expected, and was left alone";

type OfDomain = unsafe extern "C" fn(*mut c_void);

struct Functions {
    after_minor: OfDomain,
    update_last: OfDomain,
}

static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
/// Our functions are called through it, wherever the runtime's call is.
static SLOT: OnceLock<u64> = OnceLock::new();
/// Calls that were changed: where they are, and the instructions as they were.
static MENDED: Lock<Vec<(usize, [u8; CALL])>> = Lock::new(Vec::new());
/// Bytes of a call.
const CALL: usize = 5;

/// Mends the runtime, if its version needs it. Gives what readers of the recording should know if it has
/// the fault and keeps it.
///
/// # Safety
/// Only while the process has one thread, or no thread is in a minor collection.
pub(crate) unsafe fn prevent(runtime: &OcamlRuntime) -> Option<&'static str> {
    // SAFETY: as the caller promises.
    (has_fault(runtime.version) && unsafe { mend() }.is_none()).then_some(NOTE)
}

/// Whether a version has the fault.
fn has_fault(version: Version) -> bool {
    version == Version::V5_3
}

/// Leaves the runtime as it was before [`prevent`].
///
/// # Safety
/// No thread is in a minor collection.
pub(crate) unsafe fn give_back() {
    let mut mended = MENDED.lock();
    // In the order in which looking twice does no harm.
    for (at, original) in mended.drain(..).rev() {
        // SAFETY: the instruction that was there; no thread executes it, as the caller promises.
        let _ = unsafe { write_code(at as *mut u8, &original) };
    }
}

/// Replaces `caml_final_update_last_minor`.
unsafe extern "C" fn instead_of_update_last(domain: *mut c_void) {
    if let Some(functions) = FUNCTIONS.get() {
        // SAFETY: the runtime's own calls, in the order that 5.4 makes them.
        unsafe {
            (functions.after_minor)(domain);
            (functions.update_last)(domain);
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn mend() -> Option<()> {
    None
}

/// # Safety
/// As [`prevent`].
#[cfg(target_arch = "x86_64")]
unsafe fn mend() -> Option<()> {
    let find = |name: &str| Some(symbol(name)).filter(|address| !address.is_null());
    let after_minor = find(symbols::minor_gc::AFTER_MINOR)?;
    let update_last = find(symbols::minor_gc::UPDATE_LAST)?;
    let promote = find(symbols::minor_gc::PROMOTE)?;

    let code = code_around(promote as usize)?;
    let early = only_call(code, after_minor as usize)?;
    let late = only_call(code, update_last as usize)?;
    let promotion =
        promote as usize..promote as usize + size_of_function(symbols::minor_gc::PROMOTE);
    if !promotion.contains(&early) {
        return None;
    }
    let ours: OfDomain = instead_of_update_last;
    if SLOT.get().is_none() {
        let slots = trampoline_page::page(after_minor, &[ours as *const c_void]).ok()?;
        let _ = SLOT.set(*slots.first()?);
    }
    let slot = *SLOT.get()?;
    let distance = i32::try_from(slot as i64 - (late + CALL) as i64).ok()?;
    // SAFETY: the runtime declares both `void f(caml_domain_state *)`.
    let functions = unsafe {
        Functions {
            after_minor: mem::transmute::<*mut c_void, OfDomain>(after_minor),
            update_last: mem::transmute::<*mut c_void, OfDomain>(update_last),
        }
    };
    FUNCTIONS.get_or_init(|| functions);
    // SAFETY: two calls of five bytes each.
    let original = |at: usize| (at, unsafe { (at as *const [u8; CALL]).read_unaligned() });
    MENDED.lock().extend([original(late), original(early)]);
    // In this order, as looking twice does no harm.
    // SAFETY: both are calls of five bytes, of a function that takes and gives the same, or of nothing;
    // no other thread runs them.
    unsafe {
        write_code((late + 1) as *mut u8, &distance.to_le_bytes()).ok()?;
        // nopl 0(%rax,%rax,1)
        write_code(early as *mut u8, &[0x0f, 0x1f, 0x44, 0x00, 0x00]).ok()
    }
}

/// Address of the only direct call of `target`; `None` if there are more, or jumps.
#[cfg(target_arch = "x86_64")]
fn only_call(code: &[u8], target: usize) -> Option<usize> {
    let base = code.as_ptr() as usize;
    let mut calls = code.windows(5).enumerate().filter_map(|(at, bytes)| {
        let &[opcode @ (0xe8 | 0xe9), a, b, c, d] = bytes else { return None };
        let distance = i32::from_le_bytes([a, b, c, d]) as isize;
        let next = base + at + bytes.len();
        (next.wrapping_add_signed(distance) == target).then_some((opcode, base + at))
    });
    match (calls.next(), calls.next()) {
        (Some((0xe8, at)), None) => Some(at),
        _ => None,
    }
}

/// More than the runtime's code takes.
#[cfg(target_arch = "x86_64")]
const VICINITY: usize = 1 << 19;

/// The code around a function of the runtime: executable, and no farther away than all of the
/// runtime is. A large program's own code need not be looked through.
#[cfg(target_arch = "x86_64")]
fn code_around(function: usize) -> Option<&'static [u8]> {
    find_in_objects(|object| {
        let mut segments = object.segments().filter(|(_, access)| access & libc::PF_X != 0);
        let (segment, _) = segments.find(|(segment, _)| segment.contains(&(function as u64)))?;
        let from = (segment.start as usize).max(function.saturating_sub(VICINITY));
        let to = (segment.end as usize).min(function.saturating_add(VICINITY));
        // SAFETY: an executable segment is readable, and stays as long as the runtime.
        Some(unsafe { slice::from_raw_parts(from as *const u8, to - from) })
    })
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn only_the_version_with_the_fault_is_changed() {
        let changed: Vec<_> = Version::ALL.into_iter().filter(|&v| has_fault(v)).collect();
        assert_eq!(changed, [Version::V5_3]);
    }

    #[test]
    fn only_one_call_is_believed() {
        /// Where the only call is, in code with these calls and jumps of one target.
        fn found(places: &[(usize, u8)]) -> Option<usize> {
            let mut code = vec![0x90; 64];
            let base = code.as_ptr() as usize;
            let target = base + 0x1000;
            for &(at, opcode) in places {
                let distance = target.wrapping_sub(base + at + 5) as u32;
                code[at] = opcode;
                code[at + 1..at + 5].copy_from_slice(&distance.to_le_bytes());
            }
            only_call(&code, target).map(|found| found - base)
        }
        assert_eq!(found(&[(10, 0xe8)]), Some(10));
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[(10, 0xe8), (30, 0xe8)]), None, "two calls");
        assert_eq!(found(&[(10, 0xe8), (30, 0xe9)]), None, "a call and a jump");
        assert_eq!(found(&[(10, 0xe9)]), None, "a jump");
    }
}
