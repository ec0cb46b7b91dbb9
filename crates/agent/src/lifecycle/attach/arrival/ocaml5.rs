//! OCaml 5: the runtime stops all domains. The main one is made to ask for that, by the hook at the end of pending actions.
//! While it waits in a system call, our thread takes its lock and asks in its place, as the runtime's own backup thread does.

use std::ffi::{c_int, c_void};
use std::mem;
use std::sync::atomic::{
    AtomicIsize, AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use memtrail_ocaml::layout::{Layout, Machine};
use memtrail_ocaml::memory::{Memory as _, Probed};
use memtrail_ocaml::symbols::{heap as names, state};
use memtrail_ocaml::{Version, domain_lock};

use super::work::{Arrival, at_moment, is_wanted};
use crate::context::state::StateVariable;
use crate::os::clock::pause;
use crate::os::replaced_hook::ReplacedHook;
use crate::os::symbol::required;

type Hook = unsafe extern "C" fn();
type Stopped = unsafe extern "C" fn(u64, *mut c_void, c_int, *const u64);
type StopAll = unsafe extern "C" fn(Stopped, *mut c_void, unsafe extern "C" fn(u64)) -> c_int;

/// The runtime's variables and functions that are needed.
pub(super) struct Ocaml5Arrival {
    interrupt: &'static AtomicPtr<c_void>,
    become_domain: unsafe extern "C" fn(c_int),
    /// State of the main domain.
    main: u64,
    lock: *mut libc::pthread_mutex_t,
    variable: StateVariable,
}

// SAFETY: holds addresses of code and of variables that live as long as the process.
unsafe impl Send for Ocaml5Arrival {}
// SAFETY: as above.
unsafe impl Sync for Ocaml5Arrival {}

/// State of the hook and of the stop.
struct Stop {
    replaced: ReplacedHook,
    function: AtomicPtr<c_void>,
    /// State of the main domain, and places of two fields in the state of each.
    main: AtomicU64,
    external_interrupt: AtomicU64,
    young_limit: AtomicU64,
    /// Offset of the variable that leads to a thread's state from the thread pointer.
    variable: AtomicIsize,
    /// Domains that have come to the stop.
    arrived: AtomicU32,
    /// They may go on.
    is_over: AtomicU32,
}

static STOP: Stop = Stop {
    replaced: ReplacedHook::new(),
    function: AtomicPtr::new(std::ptr::null_mut()),
    main: AtomicU64::new(0),
    external_interrupt: AtomicU64::new(0),
    young_limit: AtomicU64::new(0),
    variable: AtomicIsize::new(0),
    arrived: AtomicU32::new(0),
    is_over: AtomicU32::new(0),
};

/// Tries of a domain to stop the others before it goes on with its work.
const TRIES: u32 = 100;
/// Between looks of domains that wait, in nanoseconds.
const PAUSE: u32 = 20_000;

impl Ocaml5Arrival {
    pub(super) fn find(version: Version, main_thread: u64) -> Result<Self, &'static str> {
        let layout = Layout::of(version, Machine::HERE);
        let fields = layout.multicore().ok_or(state::MULTICORE)?;
        let here = required(state::MULTICORE)?;
        let variable = StateVariable::thread_local(here.cast());
        let of_main = variable.of_thread(main_thread).ok_or("its main domain's state")?;
        let memory = Probed::open().map_err(|_| "its memory")?;
        let young_limit = layout.state.young_limit;
        let (domain, main) = domain_lock::domain_of_thread(&memory, of_main, young_limit)
            .filter(|&(domain, _)| memory.u32(domain) == Some(0))
            .ok_or("its main domain's state")?;
        let lock = domain_lock::lock_of_domain(&memory, domain).ok_or("its main domain's lock")?;
        STOP.main.store(main, Release);
        STOP.external_interrupt.store(fields.requested_external_interrupt, Release);
        STOP.young_limit.store(young_limit, Release);
        if let StateVariable::ThreadLocal(offset) = variable {
            STOP.variable.store(offset, Release);
        }
        STOP.function.store(required(names::STOP_ALL)?, Release);
        // SAFETY: the runtime declares these with these types (see `symbols`).
        unsafe {
            Ok(Self {
                interrupt: AtomicPtr::from_ptr(required(names::INTERRUPT_HOOK)?.cast()),
                become_domain: mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int)>(
                    required(names::BECOME_DOMAIN)?,
                ),
                main,
                lock: lock as *mut libc::pthread_mutex_t,
                variable,
            })
        }
    }
}

impl Arrival for Ocaml5Arrival {
    fn ask(&self) {
        // The hook that the runtime begins with leaves the request as it is: ours has to be there before.
        STOP.replaced.put_first(self.interrupt, interrupted as Hook as *const c_void);
        // SAFETY: fields of the main domain, which never ends; the runtime sets them likewise from other threads.
        unsafe {
            set(self.main, &STOP.external_interrupt, 1);
            set(self.main, &STOP.young_limit, u64::MAX);
        }
    }

    fn try_idle(&self, _: u32) {
        // SAFETY: the lock lives as long as the process. Whoever holds it is the domain's only thread at work; what the domain
        // left when it let go of the lock is what its backup thread also works on.
        unsafe {
            if libc::pthread_mutex_trylock(self.lock) != 0 {
                return;
            }
            (self.become_domain)(0);
            let state = self.variable.address();
            state.write_volatile(self.main);
            stop_all();
            state.write_volatile(0);
            libc::pthread_mutex_unlock(self.lock);
        }
    }

    fn take_out(&self) {
        STOP.replaced.take_out(self.interrupt, interrupted as Hook as *const c_void);
    }
}

/// Pending actions are done, all is saved, anything may be done here.
unsafe extern "C" fn interrupted() {
    if is_wanted() {
        // SAFETY: the runtime calls the hook in a domain that runs, outside of any stop.
        unsafe { stop_all() };
    }
    let before = STOP.replaced.before();
    if !before.is_null() {
        // SAFETY: what stood in the hook's variable is a function of this type.
        unsafe { mem::transmute::<*mut c_void, Hook>(before)() };
    }
    // Without systhreads nobody else takes the request back.
    // SAFETY: this thread's variable, and a field of its domain.
    unsafe {
        let state = *StateVariable::ThreadLocal(STOP.variable.load(Acquire)).address();
        if state != 0 {
            set(state, &STOP.external_interrupt, 0);
        }
    }
}

/// Sets a field of a domain's state.
///
/// # Safety
/// `state` is the state of a domain that has not ended, and the field one that other threads set as well.
unsafe fn set(state: u64, field: &AtomicU64, value: u64) {
    // SAFETY: as the caller promises.
    unsafe { AtomicU64::from_ptr((state + field.load(Acquire)) as *mut u64).store(value, Release) };
}

/// Stops all domains and does the work that is wanted.
///
/// # Safety
/// This thread holds a domain's lock, and is not inside such a stop.
unsafe fn stop_all() {
    let function = STOP.function.load(Acquire);
    if function.is_null() {
        return;
    }
    // SAFETY: the runtime declares it with this type.
    let stop_all = unsafe { mem::transmute::<*mut c_void, StopAll>(function) };
    for _ in 0..TRIES {
        // SAFETY: as the caller promises.
        let is_done = unsafe { stop_all(stopped, std::ptr::null_mut(), before_stop) != 0 };
        if is_done || !is_wanted() {
            return;
        }
        // Another domain was faster, or is about to be.
        // SAFETY: always allowed.
        unsafe { libc::sched_yield() };
    }
}

/// A domain is about to stop the others.
unsafe extern "C" fn before_stop(_: u64) {
    STOP.arrived.store(0, Relaxed);
    STOP.is_over.store(0, Release);
}

/// All domains come here. The main one works when all others have come.
unsafe extern "C" fn stopped(domain: u64, _: *mut c_void, count: c_int, domains: *const u64) {
    let count = count.max(1) as u32;
    STOP.arrived.fetch_add(1, AcqRel);
    if domain != STOP.main.load(Acquire) {
        while STOP.is_over.load(Acquire) == 0 {
            pause(PAUSE);
        }
        return;
    }
    while STOP.arrived.load(Acquire) < count {
        pause(PAUSE);
    }
    // SAFETY: the runtime's list of the states of all domains.
    at_moment(unsafe { std::slice::from_raw_parts(domains, count as usize) });
    STOP.is_over.store(1, Release);
}
