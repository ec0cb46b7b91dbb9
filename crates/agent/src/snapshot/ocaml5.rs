//! OCaml 5: when everything holds still.
//!
//! The runtime can stop all domains. The main domain is made to ask for that: while it runs, by the
//! hook in which systhreads switches threads; while it waits in a system call, by a thread of ours,
//! which then finds the domain's lock free, takes it and replaces the domain as the runtime's
//! own backup thread does. It never waits for the lock: a domain that comes back to work before the
//! lock was taken is interrupted instead. Where domains hardly come out of collections, the main one
//! may take seconds to do so: each domain that is involved in a minor collection meanwhile asks, too,
//! as soon as it is out of it.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use memtrail_ocaml::domain_lock::Search;
use memtrail_ocaml::layout::MulticoreState;
use memtrail_ocaml::memory::Probed;
use memtrail_ocaml::symbols::heap as names;
use memtrail_recording::SnapshotReason;
use memtrail_recording::session::SnapshotOptions;

use super::domain_stop::{DomainStop, SnapshotRequest};
use super::generation::{HoldStill, SnapshotGeneration};
use super::safepoint;
use super::setting::setting;
use super::{domains, request, writers};
use crate::context::ocaml5::Ocaml5;
use crate::context::target::Target;
use crate::os::ffi_guard::guarded;
use crate::os::own_thread;
use crate::os::replaced_hook::ReplacedHook;
use crate::os::symbol::{required, symbol};
use crate::recording::installed::place;
use crate::recording::notes::note;

type Hook = unsafe extern "C" fn();
type ScanHook = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void, u64);
/// The runtime's variables and functions that are needed.
pub(super) struct Ocaml5Heap {
    target: &'static Target,
    fields: MulticoreState,
    /// State of the main domain.
    main: u64,
    interrupt: *const AtomicPtr<c_void>,
    scan_roots: *const AtomicPtr<c_void>,
    /// The main domain's lock; null before it is looked for, and where it was not found.
    lock: AtomicPtr<libc::pthread_mutex_t>,
    darken: *mut c_void,
    /// Null if it is not exported.
    minor_collections: *const AtomicU64,
    stop: DomainStop,
    become_domain: unsafe extern "C" fn(c_int),
}

// SAFETY: holds addresses of code and of variables that live as long as the process.
unsafe impl Send for Ocaml5Heap {}
// SAFETY: as above.
unsafe impl Sync for Ocaml5Heap {}

/// What hooks of ours need.
struct HookState {
    /// There once snapshots are set up.
    heap: OnceLock<Ocaml5Heap>,
    /// What was in the variable `interrupt` before.
    interrupt: AtomicPtr<c_void>,
    /// What was in the variable `scan_roots` before.
    scan_roots: ReplacedHook,
}

static HOOKS: HookState = HookState {
    heap: OnceLock::new(),
    interrupt: AtomicPtr::new(std::ptr::null_mut()),
    scan_roots: ReplacedHook::new(),
};

/// How often a domain tries to stop the others before it raises `Out_of_memory` all the same.
const MAX_TRIES: u32 = 10_000;
/// How long a domain, or the thread that replaces one, tries to stop the others before it goes on
/// with its work. In nanoseconds.
const TRY_FOR: u64 = 50_000_000;
/// How long it gives the main domain, in microseconds, before it looks and interrupts again.
const BETWEEN_TRIES: u32 = 2_000;

fn heap() -> Option<&'static Ocaml5Heap> {
    setting().and_then(|_| HOOKS.heap.get())
}

impl Ocaml5Heap {
    pub(super) fn find(target: &'static Target) -> Result<Self, &'static str> {
        let variable = |name| required(name).map(|at| at.cast_const().cast::<AtomicPtr<c_void>>());
        // SAFETY: the runtime declares these with these types (see `symbols`).
        unsafe {
            Ok(Self {
                target,
                fields: *target.runtime.layout.multicore().ok_or("caml_state")?,
                main: target.runtime.state(),
                interrupt: variable(names::INTERRUPT_HOOK)?,
                scan_roots: variable(names::SCAN_ROOTS_HOOK)?,
                lock: AtomicPtr::default(),
                darken: required(names::DARKEN)?,
                minor_collections: symbol(names::MINOR_COLLECTIONS).cast_const().cast(),
                stop: DomainStop::find()?,
                become_domain: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int)>(
                    required(names::BECOME_DOMAIN)?,
                ),
            })
        }
    }

    fn find_lock(&self) -> Option<u64> {
        let runtime = &self.target.runtime;
        let search = Search {
            variable: runtime.state_variable() as u64,
            state: self.main,
            young_limit: runtime.layout.state.young_limit,
            // SAFETY: always allowed.
            thread: unsafe { libc::gettid() } as u32,
        };
        search.find(&Probed::open().ok()?)
    }

    /// Sees to it that the snapshots that are wanted are taken, as long as the process is recorded.
    ///
    /// The thread must share the program's descriptors: in a stop that another domain has asked for
    /// it does the main domain's part of the collection, and the program's finalisers written in C
    /// may run there.
    pub(super) fn serve(&self) {
        let goes_on = || place().is_some() && !own_thread::main_has_ended();
        while goes_on() {
            request::sleep();
            while request::wanted() && goes_on() {
                // First: who was asked to come by must find it, even if there is nothing left to do.
                self.take_interrupts();
                self.try_idle();
                if request::wanted() {
                    // SAFETY: the main domain never ends; a valid duration.
                    unsafe {
                        self.interrupt(self.main);
                        libc::usleep(BETWEEN_TRIES);
                    }
                }
            }
        }
    }

    /// Puts our hook in place of the one that switches threads, for good. Only the thread that serves calls.
    ///
    /// The hook that the runtime begins with leaves the request as it is. A domain that finds it in 5.0 to
    /// 5.2 on its way into a system call would look for it again and again, and never go.
    fn take_interrupts(&self) {
        let ours = interrupted as Hook as *mut c_void;
        // SAFETY: the variable is the runtime's, which sets it likewise from other threads.
        unsafe {
            let now = (*self.interrupt).load(Acquire);
            if now != ours {
                HOOKS.interrupt.store(now, Release);
                // Systhreads, which begins at this very moment, keeps its own: the next try is ours.
                let _ = (*self.interrupt).compare_exchange(now, ours, AcqRel, Relaxed);
            }
        }
    }

    /// Whether a domain that is asked to come by finds our hook.
    fn has_interrupts(&self) -> bool {
        // SAFETY: the variable is the runtime's.
        unsafe { (*self.interrupt).load(Acquire) == interrupted as Hook as *mut c_void }
    }

    /// Makes a domain come to that hook, if it runs.
    ///
    /// # Safety
    /// `domain` is the state of a domain that has not ended.
    unsafe fn interrupt(&self, domain: u64) {
        let limit = self.target.runtime.layout.state.young_limit;
        // SAFETY: the fields are the runtime's, which sets them likewise from other threads.
        unsafe {
            AtomicU64::from_ptr((domain + self.fields.requested_external_interrupt) as *mut u64)
                .store(1, Release);
            AtomicU64::from_ptr((domain + limit) as *mut u64).store(u64::MAX, Release);
        }
    }

    /// Takes a snapshot if the main domain waits in a system call.
    fn try_idle(&self) {
        let lock = self.lock.load(Acquire);
        // SAFETY: the lock lives as long as the process. Whoever holds it is the domain's only thread
        // at work; what the domain left when it let go of the lock is what its backup thread also
        // works on.
        unsafe {
            if lock.is_null() || libc::pthread_mutex_trylock(lock) != 0 {
                return;
            }
            (self.become_domain)(0);
            let state = self.target.runtime.state_variable();
            state.write_volatile(self.main);
            self.stop.take_wanted(TRY_FOR);
            state.write_volatile(0);
            libc::pthread_mutex_unlock(lock);
        }
    }

    /// How many there have been.
    fn minor_collections(&self) -> u64 {
        let counter = self.minor_collections;
        if counter.is_null() {
            return 0;
        }
        // SAFETY: the runtime's variable, which it changes likewise.
        unsafe { (*counter).load(Relaxed) }
    }
}

impl HoldStill for Ocaml5Heap {
    fn prepare(&self, _: &SnapshotOptions) {
        match self.find_lock() {
            Some(lock) => self.lock.store(lock as *mut libc::pthread_mutex_t, Release),
            None => note(
                "its main domain's lock was not found: while that domain waits in a system call \
                 there can be no heap snapshots"
                    .into(),
            ),
        }
        // SAFETY: the variable is the runtime's; systhreads keeps what stands there.
        HOOKS
            .scan_roots
            .put(unsafe { &*self.scan_roots }, scanning_roots as ScanHook as *const c_void);
    }

    fn give_back(&self) {
        let ours = interrupted as Hook as *mut c_void;
        // SAFETY: the variables are the runtime's.
        unsafe {
            HOOKS
                .scan_roots
                .take_out(&*self.scan_roots, scanning_roots as ScanHook as *const c_void);
            let before = HOOKS.interrupt.load(Acquire);
            let _ = (*self.interrupt).compare_exchange(ours, before, AcqRel, Relaxed);
        }
    }

    fn now(&self, label: &str, insist: bool) -> bool {
        if self.target.runtime.state() == 0 {
            return true;
        }
        let wanted = SnapshotRequest::new(SnapshotReason::Program, Some(label), insist);
        // SAFETY: the thread has a state, so it holds its domain's lock; the program's code runs.
        while unsafe { !self.stop.try_snapshot(&wanted) } {}
        wanted.is_answered()
    }

    fn out_of_memory(&self) {
        if self.target.runtime.state() == 0 {
            return;
        }
        let wanted = SnapshotRequest::new(SnapshotReason::OutOfMemory, None, true);
        // Should memory have run out while all domains are stopped, this cannot succeed.
        // SAFETY: the thread has a state, so it holds its domain's lock.
        let _ = (0..MAX_TRIES).any(|_| unsafe { self.stop.try_snapshot(&wanted) });
    }

    fn at_exit(&self) {
        // A thread that holds no domain's lock has no state.
        let why = if self.target.runtime.state() == 0 {
            "the thread that ended the program held no domain's lock"
        } else {
            // SAFETY: the thread has a state, so it holds its domain's lock.
            if unsafe { self.stop.take_at_exit() } {
                return;
            }
            "the program ended, and its domains could not be stopped within a second"
        };
        safepoint::refuse(SnapshotReason::Exit, why);
    }

    fn used(&self) -> u64 {
        8 * domains::all(self.target.memory, &self.fields, self.main, self.minor_collections())
    }

    // The second thread does, when something is wanted.
    fn nudge(&self) {}

    fn take_wanted(&self) {}

    // The second thread does.
    fn take_while_idle(&self) {}

    fn second_thread(&self) -> Option<extern "C" fn()> {
        Some(stand_in)
    }
}

/// The main domain, when it waits.
extern "C" fn stand_in() {
    guarded((), || {
        if let Some(heap) = heap() {
            heap.serve();
        }
    });
}

impl SnapshotGeneration for Ocaml5 {
    fn find(&self, target: &'static Target) -> Result<&'static dyn HoldStill, &'static str> {
        let found = Ocaml5Heap::find(target)?;
        Ok(HOOKS.heap.get_or_init(|| found))
    }
}

/// Pending actions are done, all is saved, anything may be done here.
unsafe extern "C" fn interrupted() {
    let heap = guarded(None, heap);
    if let Some(heap) = heap
        && request::wanted()
    {
        // SAFETY: the runtime calls the hook in a domain that runs, outside of any stop.
        guarded((), || unsafe { heap.stop.take_wanted(TRY_FOR) });
    }
    let before = HOOKS.interrupt.load(Acquire);
    if !before.is_null() {
        // SAFETY: what stood in the hook's variable is a function of this type.
        unsafe { std::mem::transmute::<*mut c_void, Hook>(before)() };
    }
    if let Some(heap) = heap {
        // Without systhreads nobody else takes the request back.
        let state = heap.target.runtime.state();
        // SAFETY: this domain's state.
        unsafe {
            AtomicU64::from_ptr((state + heap.fields.requested_external_interrupt) as *mut u64)
                .store(0, Release);
        }
    }
}

/// Roots are scanned, by each domain for its own: for the beginning of a major cycle, if they are
/// marked, otherwise for a minor collection.
unsafe extern "C" fn scanning_roots(
    action: *mut c_void,
    flags: c_int,
    data: *mut c_void,
    domain: u64,
) {
    let before = HOOKS.scan_roots.before();
    if !before.is_null() {
        // SAFETY: what stood in the hook's variable is a function of this type.
        unsafe {
            std::mem::transmute::<*mut c_void, ScanHook>(before)(action, flags, data, domain);
        }
    }
    guarded((), || {
        let (Some(setting), Some(heap)) = (setting(), heap()) else { return };
        if setting.options.above.is_some() || setting.options.auto {
            let (memory, collections) = (heap.target.memory, heap.minor_collections());
            domains::report(memory, &heap.fields, domain, collections);
        }
        if setting.options.every_major
            && action == heap.darken
            && domain == heap.main
            && writers::is_idle()
            && request::one_more(setting.options)
        {
            request::add(SnapshotReason::EveryMajor);
        }
        if request::wanted() && heap.has_interrupts() {
            // SAFETY: the domain is here.
            unsafe { heap.interrupt(domain) };
        }
    });
}
