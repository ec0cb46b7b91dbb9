//! The copies of the process that are writing, and what became of them.

use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use memtrail_recording::{Snapshot, SnapshotOutcome};

use super::auto_costs;
use crate::os::clock::{cpu_time, monotonic};
use crate::os::frozen_copy::{End, ended};
use crate::os::lock::Lock;
use crate::recording::installed::place;
use crate::recording::notes::note_snapshot;

/// No more copies than this at once: each holds the memory that the program has changed since.
const MAX_WRITERS: usize = 4;
/// A second, in tenths of a millisecond: a copy that does not come to making its file was killed.
const MAX_WAITS: u32 = 10_000;

/// How long no copy may get on at the program's end, and how long it waits in all; nanoseconds.
const PATIENCE: u64 = 10_000_000_000;
const MAX_WAIT: u64 = 600_000_000_000;
/// Why one is not there that had no room.
const NO_ROOM: &str = "the recording would have taken more than --disk";

/// A thread that is not there in a fork may hold the lock: nobody waits for it for ever.
static WRITERS: Lock<Vec<Writer>> = Lock::new(Vec::new());

/// A copy that writes.
pub(super) struct Writer {
    pub(super) pid: libc::pid_t,
    pub(super) page: &'static Page,
    pub(super) snapshot: Snapshot,
}

/// What a copy and its original tell each other: memory that both share.
#[derive(Default)]
pub(super) struct Page {
    /// From the original: how long it was paused, in nanoseconds, 0 until it is known.
    pub(super) pause: AtomicU64,
    /// From the copy: its file is there, and waited for whatever becomes of the original.
    pub(super) begun: AtomicBool,
    pub(super) write_ns: AtomicU64,
    /// CPU time that the copy used, in nanoseconds.
    pub(super) cpu_ns: AtomicU64,
    pub(super) bytes: AtomicU64,
    pub(super) blocks: AtomicU64,
    pub(super) outside: AtomicU64,
    /// The system's error number, if writing failed.
    pub(super) errno: AtomicI32,
    /// The program cannot reach its recording any more, and the launcher is gone.
    pub(super) out_of_reach: AtomicBool,
    /// The recording would have taken more than its disk space.
    pub(super) no_room: AtomicBool,
}

impl Page {
    pub(super) fn map() -> Option<&'static Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        // SAFETY: a fresh mapping; zeros are a valid page, and only atomics are in it.
        unsafe {
            let at = libc::mmap(std::ptr::null_mut(), size_of::<Self>(), access, flags, -1, 0);
            if at == libc::MAP_FAILED { None } else { Some(&*at.cast()) }
        }
    }

    /// Lets the copy know how long the original was paused.
    pub(super) fn report_pause(&self, nanoseconds: u64) {
        self.pause.store(nanoseconds.max(1), Release);
    }

    /// In the copy: how long the original was paused; it tells at once.
    pub(super) fn await_pause(&self) -> u64 {
        for _ in 0..1000 {
            match self.pause.load(Acquire) {
                // SAFETY: plain system call.
                0 => unsafe { libc::usleep(1000) },
                pause => return pause,
            };
        }
        0
    }

    /// # Safety
    /// The page is not used any more.
    unsafe fn unmap(&'static self) {
        // SAFETY: mapped by `map`.
        unsafe { libc::munmap(std::ptr::from_ref(self).cast_mut().cast(), size_of::<Self>()) };
    }
}

/// Whether one more copy may be made.
pub(super) fn has_room() -> bool {
    WRITERS.try_lock_for().is_some_and(|writers| writers.len() < MAX_WRITERS)
}

/// Waits until the files of all copies are there; not for ever.
pub(super) fn await_files() {
    let all_begun = || {
        let Some(writers) = WRITERS.try_lock_for() else { return true };
        let begun = |w: &Writer| w.page.begun.load(Acquire) || w.page.errno.load(Acquire) != 0;
        writers.iter().all(begun)
    };
    let mut waits = 0;
    while !all_begun() && waits < MAX_WAITS {
        // SAFETY: a valid duration, no remainder wanted.
        unsafe { libc::usleep(100) };
        waits += 1;
    }
}

/// Whether none is at work.
pub(super) fn is_idle() -> bool {
    WRITERS.try_lock_for().is_some_and(|writers| writers.is_empty())
}

/// Watches a copy.
pub(super) fn add(writer: Writer) {
    if let Some(mut writers) = WRITERS.try_lock_for() {
        writers.push(writer);
    }
}

/// Forgets the copies of the process that this one was forked from.
pub(super) fn forget() {
    if let Some(mut writers) = WRITERS.try_lock_for() {
        writers.clear();
    }
}

/// Notes in the recording what became of copies that have ended.
pub(super) fn collect() {
    while let Some(writer) = take(|writer| ended(writer.pid)) {
        note(writer);
    }
}

/// Waits for all of them, as long as they get on: one that hangs (a file system that does not answer)
/// does not keep the program from its end.
pub(super) fn finish() {
    let begun = monotonic();
    let (mut spent_before, mut got_on) = (0, begun);
    loop {
        collect();
        let Some(spent) = spent() else { return };
        let now = monotonic();
        if spent != spent_before {
            (spent_before, got_on) = (spent, now);
        }
        if now.saturating_sub(got_on) >= PATIENCE {
            return abandon("it hung when the program ended, and was waited for 10 s");
        }
        if now.saturating_sub(begun) >= MAX_WAIT {
            return abandon("it was not done ten minutes after the program's end");
        }
        // SAFETY: a valid duration.
        unsafe { libc::usleep(1_000) };
    }
}

/// Processor time that all copies have used, in nanoseconds; nothing if there are none.
fn spent() -> Option<u64> {
    let writers = WRITERS.try_lock_for().filter(|writers| !writers.is_empty())?;
    Some(writers.iter().map(|writer| cpu_time(writer.pid)).sum())
}

/// Gives up those that are left.
fn abandon(why: &str) {
    let Some(mut writers) = WRITERS.try_lock_for() else { return };
    for writer in writers.drain(..) {
        // SAFETY: a copy of ours, which nobody else waits for.
        unsafe { libc::kill(writer.pid, libc::SIGKILL) };
        let outcome = SnapshotOutcome::Failed { reason: why.into() };
        note_snapshot(Snapshot { outcome, ..writer.snapshot });
    }
}

fn take(mut end: impl FnMut(&Writer) -> Option<End>) -> Option<(Writer, End)> {
    let mut writers = WRITERS.try_lock_for()?;
    let found = writers.iter().enumerate().find_map(|(at, writer)| Some((at, end(writer)?)));
    found.map(|(at, end)| (writers.remove(at), end))
}

fn note((writer, end): (Writer, End)) {
    let page = writer.page;
    let read = |number: &AtomicU64| number.load(Relaxed);
    let outcome = match (end, page.errno.load(Acquire)) {
        (End::Code(0), 0) => SnapshotOutcome::Complete {
            pause_ns: read(&page.pause),
            write_ns: read(&page.write_ns),
            bytes: read(&page.bytes),
            blocks: read(&page.blocks),
            outside: read(&page.outside),
        },
        (End::Signal(signal), _) => {
            remove_unfinished(writer.snapshot.number);
            SnapshotOutcome::Failed { reason: format!("its writer was killed by signal {signal}") }
        }
        (End::Code(code), 0) => {
            SnapshotOutcome::Failed { reason: format!("its writer gave up with code {code}") }
        }
        (End::Code(_), libc::EOVERFLOW) => SnapshotOutcome::Failed {
            reason: "the heap has more blocks than a snapshot can number (4,293,918,720)".into(),
        },
        (End::Code(_), _) if page.no_room.load(Acquire) => {
            SnapshotOutcome::Failed { reason: NO_ROOM.into() }
        }
        (End::Code(_), errno) => {
            let error = std::io::Error::from_raw_os_error(errno);
            let reason = if page.out_of_reach.load(Acquire) {
                format!(
                    "the program can no longer write into its recording ({error}), and the \
                     `memtrail run` that would have written it has ended"
                )
            } else {
                error.to_string()
            };
            SnapshotOutcome::Failed { reason }
        }
    };
    let cost = read(&page.cpu_ns);
    // SAFETY: the copy is gone, and so is the writer.
    unsafe { page.unmap() };
    let snapshot = Snapshot { outcome, ..writer.snapshot };
    auto_costs::written(&snapshot, cost);
    note_snapshot(snapshot);
}

/// Removes what a copy that was killed has written.
fn remove_unfinished(number: u64) {
    if let Some(place) = place() {
        place.folder.remove_unfinished(number);
    }
}
