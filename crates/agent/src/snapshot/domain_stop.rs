//! OCaml 5: stops all domains, and takes a snapshot when all have come to the stop.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use memtrail_ocaml::symbols::heap as names;
use memtrail_recording::SnapshotReason;

use super::safepoint::Safepoint;
use super::take::take;
use super::{request, writers};
use crate::os::clock::{monotonic, pause};
use crate::os::ffi_guard::guarded;
use crate::os::symbol::required;

type Stopped = unsafe extern "C" fn(u64, *mut c_void, c_int, *const u64);
type StopAll = unsafe extern "C" fn(Stopped, *mut c_void, unsafe extern "C" fn(u64)) -> c_int;

/// Stops all domains.
pub(super) struct DomainStop(StopAll);

/// The stop under way.
struct StopState {
    /// Domains that have come to it.
    arrived: AtomicU32,
    /// Whether they may go on.
    done: AtomicU32,
    /// When the first stopped.
    began: AtomicU64,
    /// Whether a snapshot of the program's end is wanted.
    at_exit: AtomicU32,
}

static STOP: StopState = StopState {
    arrived: AtomicU32::new(0),
    done: AtomicU32::new(0),
    began: AtomicU64::new(0),
    at_exit: AtomicU32::new(0),
};

/// How long a program that ends tries it, in nanoseconds.
const TRY_AT_EXIT_FOR: u64 = 1_000_000_000;
/// Between looks of domains that wait, in nanoseconds.
const PAUSE: u32 = 20_000;

/// A snapshot that a thread of the program waits for.
pub(super) struct SnapshotRequest<'a> {
    reason: SnapshotReason,
    /// The program's name for it, if the program asked.
    label: Option<&'a str>,
    /// Whether it is to be noted as failed if too many are being written.
    insist: bool,
    answer: AtomicU32,
}

const NOT_YET: u32 = 0;
const ANSWERED: u32 = 1;
const NO_ROOM: u32 = 2;

impl<'a> SnapshotRequest<'a> {
    pub(super) fn new(reason: SnapshotReason, label: Option<&'a str>, insist: bool) -> Self {
        Self { reason, label, insist, answer: AtomicU32::new(NOT_YET) }
    }

    /// Whether it was taken, or at least noted.
    pub(super) fn is_answered(&self) -> bool {
        self.answer.load(Acquire) == ANSWERED
    }
}

impl DomainStop {
    /// The name of what is missing is the error.
    pub(super) fn find() -> Result<Self, &'static str> {
        let stop_all = required(names::STOP_ALL)?;
        // SAFETY: the runtime declares the function with this type (see `symbols`).
        Ok(Self(unsafe { std::mem::transmute::<*mut c_void, StopAll>(stop_all) }))
    }

    /// Stops all domains and takes the snapshot that is wanted, if one still is. Tries it for so long.
    ///
    /// # Safety
    /// The caller holds a domain's lock, and is not inside such a stop.
    pub(super) unsafe fn take_wanted(&self, nanoseconds: u64) {
        let until = monotonic().saturating_add(nanoseconds);
        while (request::wanted() || STOP.at_exit.load(Acquire) != 0) && monotonic() < until {
            // SAFETY: as the caller promises.
            if unsafe { (self.0)(stopped, std::ptr::null_mut(), before_stop) } != 0 {
                return;
            }
            // Another domain was faster, or is about to be.
            // SAFETY: always allowed.
            unsafe { libc::sched_yield() };
        }
    }

    /// Stops all domains for a snapshot. While another domain stops all, this one is involved in that,
    /// and its turn comes after. True when there is an answer.
    ///
    /// # Safety
    /// As [`Self::take_wanted`].
    pub(super) unsafe fn try_snapshot(&self, wanted: &SnapshotRequest<'_>) -> bool {
        let data = std::ptr::from_ref(wanted).cast_mut().cast();
        // SAFETY: as the caller promises; the request lives until all domains have left the stop.
        unsafe { (self.0)(stopped, data, before_stop) };
        wanted.answer.load(Acquire) != NOT_YET
    }

    /// Takes the snapshot of the program's end. False if the domains could not be stopped within a second.
    ///
    /// # Safety
    /// As [`Self::take_wanted`].
    pub(super) unsafe fn take_at_exit(&self) -> bool {
        STOP.at_exit.store(1, Release);
        // SAFETY: as the caller promises.
        unsafe { self.take_wanted(TRY_AT_EXIT_FOR) };
        STOP.at_exit.swap(0, AcqRel) == 0
    }
}

/// The leader is about to stop the others.
unsafe extern "C" fn before_stop(_: u64) {
    STOP.arrived.store(0, Relaxed);
    STOP.done.store(0, Relaxed);
    STOP.began.store(monotonic(), Release);
}

/// All domains come here; the last one makes the copy while the others wait.
unsafe extern "C" fn stopped(_: u64, wanted: *mut c_void, count: c_int, domains: *const u64) {
    let count = count.max(1) as u32;
    if STOP.arrived.fetch_add(1, AcqRel) + 1 < count {
        while STOP.done.load(Acquire) == 0 {
            pause(PAUSE);
        }
        return;
    }
    guarded((), || {
        // SAFETY: null, or what the caller of `try_snapshot` keeps until all domains have left.
        let wanted = unsafe { wanted.cast::<SnapshotRequest<'_>>().as_ref() };
        let reason = match wanted {
            Some(wanted) if !wanted.insist && !writers::has_room() => {
                wanted.answer.store(NO_ROOM, Release);
                None
            }
            Some(wanted) => Some(wanted.reason),
            None if STOP.at_exit.swap(0, AcqRel) != 0 => {
                // One serves both.
                request::accept();
                Some(SnapshotReason::Exit)
            }
            None => request::accept(),
        };
        if let Some(reason) = reason {
            // SAFETY: the runtime's list of the states of all domains.
            let domains = unsafe { std::slice::from_raw_parts(domains, count as usize) };
            let (label, stopped_at) =
                (wanted.and_then(|wanted| wanted.label), STOP.began.load(Acquire));
            take(&Safepoint { reason, label, stopped_at, domains });
        }
    });
    // Also if it failed: it is not tried for ever.
    // SAFETY: as above.
    if let Some(wanted) = unsafe { wanted.cast::<SnapshotRequest<'_>>().as_ref() } {
        let _ = wanted.answer.compare_exchange(NOT_YET, ANSWERED, AcqRel, Relaxed);
    }
    STOP.done.store(1, Release);
}
