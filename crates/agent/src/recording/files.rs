//! The files of one recording, as all its streams share them, and what was written or lost.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64};

use memtrail_recording::session::{State, WriteFailure};
use memtrail_trace::{BlockId, DomainId};

use crate::context::halvings::Halvings;
use crate::context::target::Target;
use crate::os::clock::Clock;
use crate::os::errno::keeping_errno;
use crate::os::lock::Lock;
use crate::recording::folder::Folder;
use crate::recording::hooks::Hooks;
use crate::recording::output::Output;
use crate::recording::rate_log::RateLog;
use crate::recording::report::report;
use crate::recording::room::Room;
use crate::recording::threads::{Identity, ThreadId, ThreadLog};

/// Ids that a domain takes at once when there are several, as memtrace does.
pub(crate) const CHUNK: u64 = 10_000;

/// Where a recording is written, and what of it may be written yet.
pub(crate) struct RecordingFiles {
    pub(crate) target: &'static Target,
    pub(crate) hooks: &'static Hooks,
    pub(crate) clock: Clock,
    pub(crate) pid: u32,
    /// Tells the blocks of this recording from those of the process it was forked from.
    pub(crate) epoch: u8,
    pub(crate) folder: Folder,
    pub(crate) output: Lock<Output>,
    pub(crate) room: Room,
    threads: Lock<ThreadLog>,
    rates: Lock<RateLog>,
    pub(crate) next_ids: AtomicU64,
    pub(crate) stopped: AtomicBool,
    /// Bytes of all packets so far: the trace itself becomes smaller when it is thinned.
    appended: AtomicU64,
    /// The error that ended writing the trace; 0 while there is none.
    pub(crate) failure: AtomicI32,
    /// Samples that came after that, or while their thread wrote another.
    pub(crate) missed: AtomicU64,
}

impl RecordingFiles {
    pub(crate) fn new(
        target: &'static Target,
        hooks: &'static Hooks,
        clock: Clock,
        (pid, epoch): (u32, u8),
        folder: Folder,
        output: Output,
    ) -> Self {
        let room = Room::new(target.options.largest_trace(), target.seed);
        Self {
            target,
            hooks,
            clock,
            pid,
            epoch,
            folder,
            output: Lock::new(output),
            room,
            threads: Lock::new(ThreadLog::new(target.options.largest_threads())),
            rates: Lock::new(RateLog::default()),
            next_ids: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            appended: AtomicU64::new(0),
            failure: AtomicI32::new(0),
            missed: AtomicU64::new(0),
        }
    }

    /// In a forked child: lets nothing more be written into its parent's recording.
    pub(crate) fn close_inherited(&self) {
        if let Some(mut output) = self.output.try_lock() {
            output.close();
        }
        if let Some(mut threads) = self.threads.try_lock() {
            threads.close();
        }
        if let Some(mut rates) = self.rates.try_lock() {
            rates.close();
        }
    }

    /// The next ids for a domain that is one of several: the first, and the one after the last.
    pub(crate) fn next_ids(&self) -> (BlockId, BlockId) {
        let first = self.next_ids.fetch_add(CHUNK, Relaxed);
        (BlockId(first), BlockId(first + CHUNK))
    }

    /// Appends whole packets to the trace; false if they are lost, and with them all that follow.
    pub(crate) fn append(&self, packets: &[u8]) -> bool {
        keeping_errno(|| {
            let Some(mut output) = self.output.lock_unless_ending() else { return false };
            let failed = match output.append(&self.folder, packets) {
                Ok(()) => {
                    self.appended.fetch_add(packets.len() as u64, Relaxed);
                    self.room.has(&output);
                    return true;
                }
                Err(errno) => errno,
            };
            self.stopped.store(true, Release);
            if self.failure.swap(failed, AcqRel) == 0 {
                // Should the process be killed, the launcher knows at least this.
                self.report_failure(0);
            }
            false
        })
    }

    /// Goes on with the trace that the launcher has thinned, if there is one.
    pub(crate) fn take_over(&self) {
        if self.target.options.disk.is_some() {
            keeping_errno(|| {
                if let Some(mut output) = self.output.lock_unless_ending() {
                    output.take_over(&self.folder);
                    self.room.has(&output);
                    if self.room.is_short() {
                        Output::remove_abandoned(&self.folder);
                    }
                }
            });
        }
    }

    /// Appends what waits for room on the disk, to each file.
    pub(crate) fn append_waiting(&self) {
        keeping_errno(|| {
            if let Some(mut output) = self.output.lock_unless_ending() {
                output.append_waiting(&self.folder);
                self.room.has(&output);
            }
            if let Some(mut threads) = self.threads.lock_unless_ending() {
                threads.append_waiting(&self.folder);
            }
            if let Some(mut rates) = self.rates.lock_unless_ending() {
                rates.append_waiting(&self.folder);
            }
        });
    }

    /// Gives the bytes of all packets so far, if a stream that began when there were `begun` is to begin anew.
    pub(crate) fn ends_segment(&self, begun: u64) -> Option<u64> {
        let segment = self.target.options.segment()?;
        let appended = self.appended.load(Relaxed);
        (appended.saturating_sub(begun) > segment).then_some(appended)
    }

    /// Tells the launcher that the trace ends before the program does: what is on the disk may say
    /// otherwise for good, as it may be the disk that is full.
    pub(crate) fn report_failure(&self, lost: u64) {
        let folder = self.folder.path().to_owned();
        let failure = Some(WriteFailure { errno: self.failure.load(Acquire), lost });
        let state = State::Recording { folder, failure };
        report(&self.target.session, self.pid, self.folder.image(), state);
    }

    /// From block `id` of `domain` on, blocks are of `thread`. `at_work` runs this.
    #[cold]
    pub(crate) fn thread_changes(
        &self,
        domain: DomainId,
        id: BlockId,
        thread_id: ThreadId,
        at_work: &mut Identity,
    ) {
        if let Some(mut threads) = self.threads.lock_unless_ending() {
            threads.switched(&self.folder, domain, id, thread_id, at_work);
        }
    }

    /// From block `id` of `domain` on, blocks are sampled at another rate.
    #[cold]
    pub(crate) fn rate_changes(&self, domain: DomainId, id: BlockId, halvings: Halvings) {
        if let Some(mut rates) = self.rates.lock_unless_ending() {
            rates.changed(&self.folder, domain, id, halvings);
        }
    }
}
