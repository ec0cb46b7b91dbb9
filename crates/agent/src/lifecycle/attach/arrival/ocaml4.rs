//! OCaml 4: the end of a minor collection, which the program is asked for; or, with systhreads, a moment at which a thread of
//! ours holds the runtime's lock.

use std::ffi::c_void;
use std::mem;
use std::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{Acquire, Release},
};

use memtrail_ocaml::Version;
use memtrail_ocaml::layout::{Layout, Machine, Offset};
use memtrail_ocaml::memory::{Memory as _, ThisProcess};
use memtrail_ocaml::symbols::{heap as names, state};

use super::work::{Arrival, at_moment, is_wanted};
use crate::os::ffi_guard::guarded;
use crate::os::replaced_hook::ReplacedHook;
use crate::os::symbol::{required, symbol};
use crate::snapshot::guest;

type Hook = unsafe extern "C" fn();

/// The runtime's variables and functions that are needed.
pub(super) struct Ocaml4Arrival {
    minor_end: &'static AtomicPtr<c_void>,
    enter: &'static AtomicPtr<c_void>,
    leave: &'static AtomicPtr<c_void>,
    /// Null until systhreads begins, which puts its own there.
    scan_roots: &'static AtomicPtr<c_void>,
    request_minor: Hook,
}

/// Tries that a program is given to come to the end of a minor collection by itself.
const PATIENCE: u32 = 30;

static REPLACED: ReplacedHook = ReplacedHook::new();

/// Offset of `in_minor_collection` in the runtime's state.
static IN_MINOR_COLLECTION: AtomicU64 = AtomicU64::new(0);

impl Ocaml4Arrival {
    pub(super) fn find(version: Version) -> Result<Self, &'static str> {
        let layout = Layout::of(version, Machine::HERE);
        let fields = layout.single().ok_or(state::SINGLE)?;
        let offset: Offset = fields.in_minor_collection;
        IN_MINOR_COLLECTION.store(offset, Release);
        // SAFETY: variables of the runtime's, which live as long as the process and hold a function each.
        let variable = |name| required(name).map(|at| unsafe { AtomicPtr::from_ptr(at.cast()) });
        Ok(Self {
            minor_end: variable(names::MINOR_END_HOOK)?,
            enter: variable(names::BLOCKING_HOOKS[0])?,
            leave: variable(names::BLOCKING_HOOKS[1])?,
            scan_roots: variable(names::SCAN_ROOTS_HOOK)?,
            // SAFETY: the runtime declares it as `void f(void)`.
            request_minor: unsafe {
                mem::transmute::<*mut c_void, Hook>(required(names::REQUEST_MINOR)?)
            },
        })
    }
}

impl Arrival for Ocaml4Arrival {
    fn ask(&self) {
        REPLACED.put(self.minor_end, at_minor_end as Hook as *const c_void);
        // SAFETY: sets flags, as signal handlers of the runtime do.
        unsafe { (self.request_minor)() };
    }

    /// A program without systhreads that waits is left to wait: it allocates nothing, and comes by when it goes on.
    fn try_idle(&self, tries: u32) {
        let has_begun = !self.scan_roots.load(Acquire).is_null();
        if tries < PATIENCE || !has_begun || symbol(names::REGISTER_THREAD[0]).is_null() {
            return;
        }
        // SAFETY: systhreads is linked and has begun. The work does not unwind.
        unsafe { guest::visit(self.enter, self.leave, at_whole_heap) };
    }

    fn take_out(&self) {
        REPLACED.take_out(self.minor_end, at_minor_end as Hook as *const c_void);
    }
}

/// The minor heap has been emptied.
unsafe extern "C" fn at_minor_end() {
    let before = REPLACED.before();
    if !before.is_null() {
        // SAFETY: what stood in a hook's variable is a function of this type.
        unsafe { mem::transmute::<*mut c_void, Hook>(before)() };
    }
    if is_wanted() {
        guarded((), at_whole_heap);
    }
}

/// This thread holds the runtime's lock.
fn at_whole_heap() {
    let variable = symbol(state::SINGLE) as u64;
    // SAFETY: the runtime's only state is read, which lives as long as the process.
    let memory = unsafe { ThisProcess::new() };
    let Some(state) = memory.u64(variable) else { return };
    let offset = IN_MINOR_COLLECTION.load(Acquire);
    if memory.field(state, offset) == Some(0) {
        at_moment(&[state]);
    }
}
