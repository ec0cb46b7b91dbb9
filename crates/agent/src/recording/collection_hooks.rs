//! Hooks around what OCaml's garbage collector does.
//!
//! The runtime calls them as a minor collection or a slice of the major one begins and ends, on the thread
//! whose domain collects (`runtime/minor_gc.c`, `runtime/major_gc.c`). Ours read the clock, add to counters and
//! call what was there before. They do nothing that could panic, so they stay on the program's stack, where a
//! hook of the program's has to run.

use std::ffi::c_void;
use std::mem;
use std::sync::atomic::{AtomicPtr, Ordering::Acquire};

use memtrail_ocaml::symbols::{major_gc, minor_gc};

use crate::os::clock::{Clock, monotonic};
use crate::os::replaced_hook::ReplacedHook;
use crate::os::symbol::symbol;
use crate::os::tls;
use crate::recording::collections::{MINOR, SLICE};
use crate::recording::installed::own;

type Hook = unsafe extern "C" fn();

/// The hooks that ours replace.
struct Replaced {
    begin: [ReplacedHook; 2],
    end: [ReplacedHook; 2],
}

static REPLACED: Replaced =
    Replaced { begin: [const { ReplacedHook::new() }; 2], end: [const { ReplacedHook::new() }; 2] };

/// What a variable of the runtime's is called, our hook, and where what was there before is kept.
type Place = (&'static str, Hook, &'static ReplacedHook);

fn places(kind: usize) -> [Place; 2] {
    let [begin, end] = [&REPLACED.begin[kind], &REPLACED.end[kind]];
    if kind == MINOR {
        [(minor_gc::BEGIN_HOOK, minor_begins, begin), (minor_gc::END_HOOK, minor_ends, end)]
    } else {
        let names = [major_gc::SLICE_BEGIN_HOOK, major_gc::SLICE_END_HOOK];
        [(names[0], slice_begins, begin), (names[1], slice_ends, end)]
    }
}

/// A hook's variable, if the runtime exports it.
fn variable(name: &str) -> Option<&'static AtomicPtr<c_void>> {
    let variable = symbol(name);
    // SAFETY: the runtime declares a variable of this type, atomic in OCaml 5 and one word in OCaml 4, for good.
    (!variable.is_null()).then(|| unsafe { AtomicPtr::from_ptr(variable.cast::<*mut c_void>()) })
}

/// Puts our hooks in place, while nothing is collected. Where the runtime does not export one of them,
/// nothing is counted in it.
pub(crate) fn watch() {
    for (name, ours, replaced) in [places(MINOR), places(SLICE)].into_iter().flatten() {
        if let Some(variable) = variable(name) {
            replaced.put(variable, ours as *const c_void);
        }
    }
}

/// Gives the hooks back. Those that the program has put before ours go on calling ours, which count nothing then.
pub(crate) fn watch_no_more() {
    for (name, ours, replaced) in [places(MINOR), places(SLICE)].into_iter().flatten() {
        if let Some(variable) = variable(name) {
            replaced.take_out(variable, ours as *const c_void);
        }
    }
}

/// Whether the hooks of a kind are ours, not ones that the program has put in their place.
pub(super) fn are_ours(kind: usize) -> bool {
    places(kind).into_iter().all(|(name, ours, _)| {
        variable(name).is_none_or(|variable| variable.load(Acquire) == ours as *mut c_void)
    })
}

fn go_on(replaced: &ReplacedHook) {
    let replaced = replaced.before();
    if !replaced.is_null() {
        // SAFETY: what stood in a hook's variable is a function of this type.
        unsafe { mem::transmute::<*mut c_void, Hook>(replaced)() };
    }
}

fn begins(kind: usize) {
    // SAFETY: this thread's own slots.
    unsafe { (*tls::slots()).collecting[kind] = monotonic() };
}

fn ends(kind: usize) {
    // SAFETY: as above.
    let began = unsafe { mem::take(&mut (*tls::slots()).collecting[kind]) };
    // Zero: the program has put a hook of its own before the beginning.
    if let Some(recorder) = own().filter(|_| began != 0) {
        let now = monotonic();
        // SAFETY: as above.
        let is_outermost = unsafe { (*tls::slots()).collecting[1 - kind] } == 0;
        let Clock { monotonic: start, .. } = recorder.files.clock;
        let (time, since_start) = (now.saturating_sub(began), now.saturating_sub(start));
        recorder.collections.add(kind, time, is_outermost, since_start);
    }
}

unsafe extern "C" fn minor_begins() {
    go_on(&REPLACED.begin[MINOR]);
    begins(MINOR);
}

/// What was there before may take a snapshot, which is not the collector's time.
unsafe extern "C" fn minor_ends() {
    ends(MINOR);
    go_on(&REPLACED.end[MINOR]);
}

unsafe extern "C" fn slice_begins() {
    go_on(&REPLACED.begin[SLICE]);
    begins(SLICE);
}

unsafe extern "C" fn slice_ends() {
    ends(SLICE);
    go_on(&REPLACED.end[SLICE]);
}
