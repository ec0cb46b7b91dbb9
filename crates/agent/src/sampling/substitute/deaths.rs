//! What becomes of sampled blocks: promoted, moved by compaction, dead.

use std::ffi::{c_int, c_void};
use std::mem::transmute;
use std::sync::atomic::{
    AtomicPtr, AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed},
};

use memtrail_ocaml::Memory as _;
use memtrail_ocaml::symbols::heap;

use super::installed::{Substitute, substitute};
use super::tracked::{self, DOMAINS, Entry};
use crate::os::ffi_guard::guarded;
use crate::os::symbol::symbol;
use crate::recording::active::active;
use crate::sampling::key::Key;
use crate::sampling::rate;
use crate::sampling::write::domain_of;

type ScanHook = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void, u64);
type Action = unsafe extern "C" fn(*mut c_void, u64, *mut u64);

/// How many domains are in `caml_compact_heap`.
pub(super) static COMPACTING: AtomicU32 = AtomicU32::new(0);
/// What was in the hook's variable before.
static BEFORE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// The header's bits of the colour (`runtime/caml/shared_heap.h`).
const COLOUR: u64 = 3 << 8;
/// A block that was promoted has this header, and its new address as its field 0.
const PROMOTED: u64 = 0;

/// Has our function called when roots are scanned.
pub(super) fn watch() {
    let variable: *mut *mut c_void = symbol(heap::SCAN_ROOTS_HOOK).cast();
    if !variable.is_null() {
        // SAFETY: the runtime's variable, an atomic one.
        let variable = unsafe { AtomicPtr::from_ptr(variable) };
        BEFORE.store(variable.swap(scanning as ScanHook as *mut c_void, AcqRel), Relaxed);
    }
}

/// Roots are scanned: for the beginning of a major cycle, for compaction, or for a minor collection.
unsafe extern "C" fn scanning(action: *mut c_void, flags: c_int, data: *mut c_void, state: u64) {
    let before = BEFORE.load(Acquire);
    if !before.is_null() {
        // SAFETY: what stood in the hook's variable is a function of this type.
        unsafe { transmute::<*mut c_void, ScanHook>(before)(action, flags, data, state) };
    }
    let Some(substitute) = substitute() else { return };
    // The main domain never ends, and all are stopped.
    if domain_of(substitute.target, state).0 != 0 {
        return;
    }
    if COMPACTING.load(Relaxed) > 0 {
        // SAFETY: the runtime's action, of this type.
        let action = unsafe { transmute::<*mut c_void, Action>(action) };
        guarded((), || after_marking(substitute, state));
        if let Some(mut tracked) = tracked::all() {
            for entry in &mut tracked.old {
                // SAFETY: as for a root of the runtime's own.
                unsafe { action(data, entry.block, &raw mut entry.block) };
            }
        }
    } else if action as u64 == substitute.functions.darken {
        guarded((), || after_marking(substitute, state));
    }
}

/// A domain's minor heap has been emptied, and what was in it still stands there.
pub(super) fn after_minor(substitute: &Substitute, state: u64) {
    let Some(mut tracked) = tracked::all() else { return };
    let domain = usize::from(domain_of(substitute.target, state).0) % DOMAINS;
    if tracked.young[domain].is_empty() {
        return;
    }
    let young = std::mem::take(&mut tracked.young[domain]);
    rate::metered(|| {
        for mut entry in young {
            match promoted_to(substitute, entry.block) {
                Some(block) => {
                    promoted(&entry, state);
                    entry.block = block;
                    tracked.old.push(entry);
                }
                None => collected(&entry, state),
            }
        }
    });
}

fn promoted_to(substitute: &Substitute, block: u64) -> Option<u64> {
    let memory = &substitute.target.memory;
    let header = memory.u64(block.checked_sub(8)?)?;
    if header == PROMOTED {
        memory.u64(block).filter(|&to| to.is_multiple_of(8) && to != 0)
    } else {
        None
    }
}

/// All domains are stopped, and colours tell which blocks of the major heap are dead.
fn after_marking(substitute: &Substitute, state: u64) {
    let Some(mut tracked) = tracked::all() else { return };
    let memory = &substitute.target.memory;
    let Some(garbage) = memory.field(substitute.functions.colours, 16) else { return };
    rate::metered(|| {
        tracked.old.retain(|entry| {
            let header = memory.u64(entry.block - 8);
            let dead = header.is_some_and(|header| header & COLOUR == garbage);
            if dead {
                collected(entry, state);
            }
            !dead
        });
    });
}

fn promoted(entry: &Entry, state: u64) {
    let Some(recorder) = active() else { return };
    // What lies outside the heap does not move when its handle does.
    if let Some(known) = Key::of(&recorder.files, entry.key).filter(|known| !known.external)
        && let Some(stream) = recorder.stream(known.domain, state)
        && let Some(mut stream) = recorder.to_write(stream)
    {
        stream.promote(&recorder.files, known.id);
    }
}

fn collected(entry: &Entry, state: u64) {
    let Some(recorder) = active() else { return };
    if let Some(known) = Key::of(&recorder.files, entry.key)
        && let Some(stream) = recorder.stream(known.domain, state)
        && let Some(mut stream) = recorder.to_write(stream)
    {
        stream.collect(&recorder.files, known.id);
    }
}
