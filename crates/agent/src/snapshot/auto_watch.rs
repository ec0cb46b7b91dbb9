//! Looks at the process for [`super::auto`], asks for its snapshots, and drops those that are too many.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use memtrail_recording::{Snapshot, SnapshotOutcome, SnapshotReason};

use super::auto::{Decision, Plan, ProcessState, Taken};
use super::memory_pressure::{available, resident};
use super::setting::Setting;
use super::{request, safepoint, writers};
use crate::os::clock;
use crate::os::lock::Lock;
use crate::recording::installed::place;
use crate::recording::notes::forget_snapshot;
use crate::recording::work;

/// Those that are there and that the plan does not know yet.
static THERE: Lock<Vec<Taken>> = Lock::new(Vec::new());

/// Bytes of the heap when this process was last looked at: its end may not measure it.
static HEAP: AtomicU64 = AtomicU64::new(0);

/// What the control thread does with each look.
pub(super) struct Watch {
    plan: Plan,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self { plan: Plan::new() }
    }

    pub(super) fn look(&mut self, setting: &Setting) {
        let there = THERE.try_lock_for().map(|mut there| std::mem::take(&mut *there));
        for taken in there.unwrap_or_default() {
            for number in self.plan.add(taken) {
                forget_snapshot(number);
            }
        }
        let moment = now(setting);
        // One that comes while another is being written is let pass.
        if !moment.is_worth_one() || request::wanted() || !writers::is_idle() {
            return;
        }
        match self.plan.decide(moment, available) {
            Decision::Wait => {}
            Decision::Take => request::add(SnapshotReason::Auto),
            Decision::Refuse(why) => safepoint::refuse(SnapshotReason::Auto, why),
        }
    }
}

/// The process as it is.
fn now(setting: &Setting) -> ProcessState {
    let started = place().map_or(0, |place| place.clock.monotonic);
    let heap = setting.heap.used();
    HEAP.store(heap, Relaxed);
    ProcessState {
        work: work::words(setting.target),
        cpu: clock::of_process(),
        elapsed: clock::monotonic().saturating_sub(started),
        heap,
        resident: resident().unwrap_or(0),
    }
}

/// Whether the process, which ends, is worth a last snapshot, and has the memory for it.
pub(super) fn is_worth_a_last_one() -> bool {
    let moment = ProcessState {
        cpu: clock::of_process(),
        heap: HEAP.load(Relaxed),
        ..ProcessState::default()
    };
    moment.is_worth_one() && available().is_none_or(|left| left >= moment.heap)
}

/// A snapshot was written, by a copy that used so many nanoseconds of CPU time.
pub(super) fn written(snapshot: &Snapshot, cost: u64) {
    let SnapshotOutcome::Complete { pause_ns, bytes, .. } = snapshot.outcome else {
        return;
    };
    if snapshot.reason == SnapshotReason::Auto
        && let Some(mut there) = THERE.try_lock_for()
    {
        there.push(Taken { number: snapshot.number, cost, pause: pause_ns, bytes });
    }
}

/// Forgets what the process that this one was forked from had.
pub(super) fn forget() {
    if let Some(mut there) = THERE.try_lock_for() {
        there.clear();
    }
}
