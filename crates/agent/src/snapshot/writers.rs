//! The copies of the process that are writing, and what became of them.

use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use memtrail_recording::{Snapshot, SnapshotOutcome, unfinished_snapshot_name};

use super::freeze::{End, ended};
use crate::lock::Lock;
use crate::recorder;

/// No more copies than this at once: each holds the memory that the program has changed since.
const MOST: usize = 4;
/// A second, in tenths of a millisecond: a copy that does not come to making its file was killed.
const MOST_WAITS: u32 = 10_000;

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
    /// From the original: how long it stood still, in nanoseconds, 0 until it is known.
    pub(super) pause: AtomicU64,
    /// From the copy: its file is there, and waited for whatever becomes of the original.
    pub(super) begun: AtomicBool,
    pub(super) write_ns: AtomicU64,
    pub(super) bytes: AtomicU64,
    pub(super) blocks: AtomicU64,
    pub(super) outside: AtomicU64,
    /// The system's error number, if writing failed.
    pub(super) errno: AtomicI32,
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

    /// # Safety
    /// The page is not used any more.
    unsafe fn unmap(&'static self) {
        // SAFETY: mapped by `map`.
        unsafe { libc::munmap(std::ptr::from_ref(self).cast_mut().cast(), size_of::<Self>()) };
    }
}

/// Whether one more copy may be made.
pub(super) fn has_room() -> bool {
    WRITERS.lock_soon().is_some_and(|writers| writers.len() < MOST)
}

/// Waits until the files of all copies are there; not for ever.
pub(super) fn await_files() {
    let all_begun = || {
        let Some(writers) = WRITERS.lock_soon() else { return true };
        let begun = |w: &Writer| w.page.begun.load(Acquire) || w.page.errno.load(Acquire) != 0;
        writers.iter().all(begun)
    };
    let mut waits = 0;
    while !all_begun() && waits < MOST_WAITS {
        // SAFETY: a valid duration, no remainder wanted.
        unsafe { libc::usleep(100) };
        waits += 1;
    }
}

/// Whether none is at work.
pub(super) fn is_idle() -> bool {
    WRITERS.lock_soon().is_some_and(|writers| writers.is_empty())
}

/// Watches a copy.
pub(super) fn add(writer: Writer) {
    if let Some(mut writers) = WRITERS.lock_soon() {
        writers.push(writer);
    }
}

/// Forgets the copies of the process that this one was forked from.
pub(super) fn forget() {
    if let Some(mut writers) = WRITERS.lock_soon() {
        writers.clear();
    }
}

/// Notes in the recording what became of copies that have ended.
pub(super) fn collect() {
    while let Some(writer) = take(|writer| ended(writer.pid, false)) {
        note(writer);
    }
}

/// Waits for all of them.
pub(super) fn finish() {
    while let Some(writer) = take(|writer| ended(writer.pid, true)) {
        note(writer);
    }
}

fn take(mut end: impl FnMut(&Writer) -> Option<End>) -> Option<(Writer, End)> {
    let mut writers = WRITERS.lock_soon()?;
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
        (End::Code(_), errno) => {
            SnapshotOutcome::Failed { reason: std::io::Error::from_raw_os_error(errno).to_string() }
        }
    };
    // SAFETY: the copy is gone, and so is the writer.
    unsafe { page.unmap() };
    recorder::note_snapshot(Snapshot { outcome, ..writer.snapshot });
}

/// Removes what a copy that was killed has written.
fn remove_unfinished(number: u64) {
    if let Some(place) = recorder::place() {
        let _ = std::fs::remove_file(place.folder.join(unfinished_snapshot_name(number)));
    }
}

/// Lets the copy know how long the original stood still.
pub(super) fn tell_pause(page: &Page, nanoseconds: u64) {
    page.pause.store(nanoseconds.max(1), Release);
}
