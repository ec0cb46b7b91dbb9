//! Looks at the process for [`super::auto`], asks for its snapshots, and drops those that are too many.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use memtrail_recording::SnapshotReason;

use super::auto::{Decision, Plan, ProcessState, Taken};
use super::memory_pressure::{available, resident};
use super::setting::Setting;
use super::{request, safepoint, writers};
use crate::os::clock;
use crate::recording::installed::place;
use crate::recording::notes::forget_snapshot;
use crate::recording::work;

/// Bytes of the heap when this process was last looked at: its end may not measure it.
static HEAP: AtomicU64 = AtomicU64::new(0);

/// What the control thread does with each look.
pub(super) struct Watch {
    plan: Plan,
}

impl Watch {
    pub(super) fn new(disk: Option<u64>, is_attached: bool) -> Self {
        Self { plan: Plan::new(disk, is_attached) }
    }

    /// One of its snapshots is there.
    pub(super) fn add(&mut self, taken: Taken) {
        self.plan.add(taken).into_iter().for_each(forget_snapshot);
    }

    pub(super) fn look(&mut self, setting: &Setting) {
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
    let mut moment = ProcessState {
        cpu: clock::of_process(),
        heap: HEAP.load(Relaxed),
        ..ProcessState::default()
    };
    if !moment.is_young() {
        moment.resident = resident().unwrap_or(0);
    }
    moment.is_worth_one() && available().is_none_or(|left| left >= moment.heap)
}
