//! OCaml 4: when everything holds still.
//!
//! At the end of a minor collection the minor heap is empty and all registers are saved: a snapshot
//! that somebody asks for waits for the next one, and asks the runtime for it. A program that waits
//! in a system call makes none. It is held there: our hooks at the border of blocking sections are a
//! gate that the control thread can close while the program is outside. With systhreads, which put
//! hooks of their own there, the control thread takes the runtime's lock as a guest among them.

use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicPtr, AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use memtrail_ocaml::Memory as _;
use memtrail_ocaml::layout::Offset;
use memtrail_ocaml::symbols::heap as names;
use memtrail_recording::SnapshotReason;
use memtrail_recording::session::SnapshotOptions;

use super::generation::{HoldStill, SnapshotGeneration};
use super::safepoint::{self, Safepoint};
use super::setting::setting;
use super::take::take;
use super::{guest, request, writers};
use crate::context::ocaml4::Ocaml4;
use crate::context::target::Target;
use crate::os::clock::{monotonic, pause};
use crate::os::ffi_guard::guarded;
use crate::os::replaced_hook::ReplacedHook;
use crate::os::symbol::{required, symbol};

type Hook = unsafe extern "C" fn();

/// The runtime's variables and functions that are needed.
pub(super) struct Ocaml4Heap {
    target: &'static Target,
    minor_end: *const AtomicPtr<c_void>,
    major: *const AtomicPtr<c_void>,
    enter: *const AtomicPtr<c_void>,
    leave: *const AtomicPtr<c_void>,
    request_minor: Hook,
    in_minor_collection: Offset,
    free_words: *const c_void,
}

// SAFETY: holds addresses of code and of variables that live as long as the process.
unsafe impl Send for Ocaml4Heap {}
// SAFETY: as above.
unsafe impl Sync for Ocaml4Heap {}

/// What hooks of ours need.
struct HookState {
    /// There once snapshots are set up.
    heap: OnceLock<Ocaml4Heap>,
    /// What was in the variable `minor_end` before.
    minor_end: ReplacedHook,
    /// What was in the variable `major` before.
    major: ReplacedHook,
    /// The runtime's hooks in the variables `enter` and `leave`, which do nothing.
    enter: ReplacedHook,
    leave: ReplacedHook,
    /// Where the program is, when it has one thread.
    gate: AtomicU32,
}

static HOOKS: HookState = HookState {
    heap: OnceLock::new(),
    minor_end: ReplacedHook::new(),
    major: ReplacedHook::new(),
    enter: ReplacedHook::new(),
    leave: ReplacedHook::new(),
    gate: AtomicU32::new(INSIDE),
};

/// Where the program is: in OCaml, in a system call, or held in one.
const INSIDE: u32 = 0;
const OUTSIDE: u32 = 1;
const CLOSED: u32 = 2;
/// How long a program that runs is given to come to a safepoint before we see whether it is idle, in
/// milliseconds.
const PATIENCE: u64 = 60;
/// How long a program that comes back from a system call sleeps between looks at a closed gate, in
/// nanoseconds.
const PAUSE: u32 = 20_000;

fn heap() -> Option<&'static Ocaml4Heap> {
    setting().and_then(|_| HOOKS.heap.get())
}

impl Ocaml4Heap {
    pub(super) fn find(target: &'static Target) -> Result<Self, &'static str> {
        let variable = |name| required(name).map(|at| at.cast_const().cast::<AtomicPtr<c_void>>());
        // SAFETY: the runtime declares these functions as `void f(void)`.
        let function =
            |name| required(name).map(|at| unsafe { std::mem::transmute::<*mut c_void, Hook>(at) });
        let fields = target.runtime.layout.single().ok_or("Caml_state")?;
        Ok(Self {
            target,
            minor_end: variable(names::MINOR_END_HOOK)?,
            major: variable(names::MAJOR_HOOK)?,
            enter: variable(names::BLOCKING_HOOKS[0])?,
            leave: variable(names::BLOCKING_HOOKS[1])?,
            request_minor: function(names::REQUEST_MINOR)?,
            in_minor_collection: fields.in_minor_collection,
            free_words: symbol(names::FREE_WORDS).cast_const(),
        })
    }

    /// Takes a snapshot if the program waits in a system call.
    pub(super) fn try_idle(&self) {
        // SAFETY: the variable is the runtime's.
        let (now, back) = unsafe { ((*self.enter).load(Acquire), (*self.leave).load(Acquire)) };
        if now == enter as Hook as *mut c_void {
            if HOOKS.gate.compare_exchange(OUTSIDE, CLOSED, AcqRel, Relaxed).is_ok() {
                self.serve();
                HOOKS.gate.store(OUTSIDE, Release);
            }
        } else if back != leave as Hook as *mut c_void {
            self.as_a_thread();
        }
    }

    /// With systhreads: waits for their lock, as a thread of theirs.
    fn as_a_thread(&self) {
        // SAFETY: systhreads is there, whose hooks are in the variables.
        unsafe {
            guest::visit(self.enter, self.leave, || {
                guarded((), || self.serve());
            });
        }
    }

    /// Takes the snapshot that is wanted, if one still is.
    fn serve(&self) {
        let stopped_at = monotonic();
        if self.is_collecting() {
            return;
        }
        if let Some(reason) = request::accept() {
            self.take(reason, stopped_at);
        }
    }

    fn take(&self, reason: SnapshotReason, stopped_at: u64) {
        let domains = [self.target.runtime.state()];
        take(&Safepoint { reason, label: None, stopped_at, domains: &domains });
    }

    fn is_collecting(&self) -> bool {
        let memory = self.target.memory;
        memory.field(self.target.runtime.state(), self.in_minor_collection) != Some(0)
    }

    /// Brings the program to a safepoint, or holds it where it waits.
    fn bring_to_safepoint(&self) {
        self.nudge();
        let mut waited = 0;
        while request::wanted() && waited < PATIENCE {
            // SAFETY: a valid duration, no remainder wanted.
            unsafe { libc::usleep(2_000) };
            waited += 2;
        }
        if request::wanted() {
            self.try_idle();
        }
    }
}

impl HoldStill for Ocaml4Heap {
    fn prepare(&self, options: &SnapshotOptions) {
        put(self.minor_end, at_minor_end as Hook, &HOOKS.minor_end);
        if options.every_major {
            put(self.major, at_major as Hook, &HOOKS.major);
        }
        // Systhreads has its own there once the program runs; then the control thread is a guest.
        if self.target.options.attached && has_systhreads() {
            return;
        }
        put(self.enter, enter as Hook, &HOOKS.enter);
        put(self.leave, leave as Hook, &HOOKS.leave);
    }

    fn give_back(&self) {
        take_out(self.minor_end, at_minor_end as Hook, &HOOKS.minor_end);
        take_out(self.major, at_major as Hook, &HOOKS.major);
        take_out(self.enter, enter as Hook, &HOOKS.enter);
        take_out(self.leave, leave as Hook, &HOOKS.leave);
        HOOKS.gate.store(INSIDE, Release);
    }

    fn now(&self, label: &str, _: bool) -> bool {
        if !self.is_collecting() {
            let (label, domains) = (Some(label), [self.target.runtime.state()]);
            let (reason, stopped_at) = (SnapshotReason::Program, monotonic());
            take(&Safepoint { reason, label, stopped_at, domains: &domains });
        }
        true
    }

    fn out_of_memory(&self) {
        if !self.is_collecting() {
            self.take(SnapshotReason::OutOfMemory, monotonic());
        }
    }

    fn at_exit(&self) {
        if self.is_collecting() {
            safepoint::refuse(
                SnapshotReason::Exit,
                "the program ended in the midst of a collection",
            );
        } else {
            self.take(SnapshotReason::Exit, monotonic());
        }
    }

    fn used(&self) -> u64 {
        let memory = self.target.memory;
        let state = self.target.runtime.state();
        let words =
            memtrail_ocaml::heap::counters::heap_words(&memory, &self.target.runtime.layout, state);
        let free = memory.u64(self.free_words as u64).unwrap_or(0);
        8 * words.unwrap_or(0).saturating_sub(free)
    }

    fn nudge(&self) {
        // SAFETY: sets flags, as signal handlers of the runtime do.
        unsafe { (self.request_minor)() };
    }

    fn take_wanted(&self) {
        self.bring_to_safepoint();
    }

    fn take_while_idle(&self) {
        self.try_idle();
    }

    fn second_thread(&self) -> Option<extern "C" fn()> {
        None
    }
}

impl SnapshotGeneration for Ocaml4 {
    fn find(&self, target: &'static Target) -> Result<&'static dyn HoldStill, &'static str> {
        let found = Ocaml4Heap::find(target)?;
        Ok(HOOKS.heap.get_or_init(|| found))
    }
}

/// Puts a hook of ours into a variable, and keeps what was there.
fn put(variable: *const AtomicPtr<c_void>, ours: Hook, before: &ReplacedHook) {
    // SAFETY: the variable is the runtime's, and holds a function of this type or null.
    before.put(unsafe { &*variable }, ours as *const c_void);
}

/// Takes it out again.
fn take_out(variable: *const AtomicPtr<c_void>, ours: Hook, before: &ReplacedHook) {
    // SAFETY: as above.
    before.take_out(unsafe { &*variable }, ours as *const c_void);
}

/// True if the program is linked with systhreads.
fn has_systhreads() -> bool {
    !symbol(names::REGISTER_THREAD[0]).is_null()
}

fn go_on(before: &ReplacedHook) {
    let before = before.before();
    if !before.is_null() {
        // SAFETY: what stood in a hook's variable is a function of this type.
        unsafe { std::mem::transmute::<*mut c_void, Hook>(before)() };
    }
}

/// The minor heap has been emptied.
unsafe extern "C" fn at_minor_end() {
    go_on(&HOOKS.minor_end);
    if request::wanted() {
        guarded((), || {
            if let Some(heap) = heap() {
                heap.serve();
            }
        });
    }
}

/// Marking is done, sweeping has not begun.
unsafe extern "C" fn at_major() {
    go_on(&HOOKS.major);
    guarded((), || {
        let (Some(setting), Some(heap)) = (setting(), heap()) else { return };
        let stopped_at = monotonic();
        // A collection that comes while one is being written is let pass.
        if writers::is_idle() && request::one_more(setting.options) {
            heap.take(SnapshotReason::EveryMajor, stopped_at);
        }
    });
}

/// The program leaves OCaml for a system call.
unsafe extern "C" fn enter() {
    HOOKS.gate.store(OUTSIDE, Release);
}

/// It comes back.
unsafe extern "C" fn leave() {
    while HOOKS.gate.compare_exchange(OUTSIDE, INSIDE, AcqRel, Relaxed) == Err(CLOSED) {
        // The runtime keeps errno.
        pause(PAUSE);
    }
}
