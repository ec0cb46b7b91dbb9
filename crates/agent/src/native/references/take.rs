//! Copies the process, and waits until the copy has written what it finds.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use memtrail_ocaml::memory::ThisProcess;
use memtrail_recording::{Snapshot, SnapshotOutcome, SnapshotReason};
use memtrail_references::file_name;
use memtrail_sampler::{each_tracked, holding_tracked};

use super::stack_top::StackTop;
use crate::native::current::Recording;
use crate::native::tracker::BlockWriter;
use crate::os::clock::{monotonic, pause};
use crate::os::frozen_copy::{End, ended, fork_snapshot};
use crate::recording::folder::Folder;
use crate::recording::references_file::save;
use crate::references::{self, Area, Copy, Original, Sampled, Scan, areas, original};

/// Time that a copy may take.
const PATIENCE: Duration = Duration::from_secs(120);
const MILLISECOND: u32 = 1_000_000;
/// Lists in the copy begin with this capacity, so that their memory is their own.
const AT_ONCE: usize = 1 << 16;

/// Exit code of a copy that could not read its mappings.
const NO_MAPPINGS: i32 = 2;

/// Prepares for copies.
pub(in crate::native) fn prepare() {
    references::prepare();
}

/// What the copy tells the process.
#[derive(Default)]
struct Page {
    blocks: AtomicU64,
    /// Size of the file.
    bytes: AtomicU64,
    errno: AtomicU64,
}

impl Page {
    fn map() -> Option<&'static Self> {
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

/// What the copy is to do.
struct Job {
    folder: Arc<Folder>,
    number: u64,
    taken_unix_us: u64,
    original: Original,
    epoch: u32,
    pid: u32,
    /// The calling thread, and where its stack is in use.
    caller: Option<(u32, u64)>,
}

/// Takes a snapshot, and notes it in the recording. `top`: where the stack of this thread is in use, if it is the
/// program's. A copy that takes longer than `within` is given up.
pub(in crate::native) fn take(
    recording: &Recording,
    reason: SnapshotReason,
    top: Option<&StackTop>,
    within: Option<Duration>,
) {
    let Some((folder, number, now)) = recording.stream().map(|stream| stream.next_snapshot())
    else {
        return;
    };
    // SAFETY: plain system call.
    let thread = unsafe { libc::gettid() } as u32;
    let job = Job {
        folder,
        number,
        taken_unix_us: now.0,
        original: original(),
        epoch: recording.epoch,
        pid: recording.pid,
        caller: top.map(|top| (thread, top.address())),
    };
    let begun = monotonic();
    let outcome = written(&job, within.unwrap_or(PATIENCE))
        .unwrap_or_else(|reason| SnapshotOutcome::Failed { reason });
    let outcome = match outcome {
        SnapshotOutcome::Complete { pause_ns, bytes, blocks, outside, .. } => {
            let write_ns = monotonic().saturating_sub(begun);
            SnapshotOutcome::Complete { pause_ns, write_ns, bytes, blocks, outside }
        }
        failed @ SnapshotOutcome::Failed { .. } => failed,
    };
    let file = file_name(number);
    let snapshot = Snapshot { number, file, reason, label: None, taken_unix_us: now.0, outcome };
    if let Some(mut stream) = recording.stream() {
        stream.note_snapshot(snapshot);
    }
}

fn written(job: &Job, patience: Duration) -> Result<SnapshotOutcome, String> {
    let page = Page::map().ok_or("no memory")?;
    let stopped = monotonic();
    let copied = holding_tracked(|| fork_snapshot(|| in_copy(job, page)))
        .ok_or("a signal handler of the program interrupted the recording")?;
    let pause_ns = monotonic().saturating_sub(stopped);
    let pid = copied.map_err(|error| format!("the process cannot be copied: {error}"))?;
    let end = wait(pid, stopped, patience);
    let (blocks, errno) = (page.blocks.load(Relaxed), page.errno.load(Relaxed));
    // The program may have no right to look at the file.
    let bytes = page.bytes.load(Relaxed);
    // SAFETY: the copy has ended.
    unsafe { page.unmap() };
    match end {
        Some(End::Code(0)) => {
            Ok(SnapshotOutcome::Complete { pause_ns, write_ns: 0, bytes, blocks, outside: 0 })
        }
        Some(End::Code(NO_MAPPINGS)) => Err("there is no /proc in the program's root folder, and \
             without its mappings nothing is known of references"
            .into()),
        Some(End::Code(_)) if errno != 0 => {
            Err(io::Error::from_raw_os_error(errno as i32).to_string())
        }
        Some(End::Code(code)) => Err(format!("its writer failed with code {code}")),
        Some(End::Signal(signal)) => Err(format!("its writer was killed by signal {signal}")),
        None => Err(format!("its writer took more than {patience:?}")),
    }
}

/// Waits for the copy.
fn wait(pid: libc::pid_t, begun: u64, patience: Duration) -> Option<End> {
    loop {
        if let Some(end) = ended(pid) {
            return Some(end);
        }
        if u128::from(monotonic().saturating_sub(begun)) > patience.as_nanos() {
            // SAFETY: a copy of ours, which nobody else waits for.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            ended(pid);
            return None;
        }
        pause(MILLISECOND);
    }
}

/// In the copy: finds and writes. Gives its exit code.
fn in_copy(job: &Job, page: &Page) -> i32 {
    match write(job, page) {
        None => NO_MAPPINGS,
        Some(Ok(())) => 0,
        Some(Err(error)) => {
            page.errno.store(error.raw_os_error().unwrap_or(libc::EIO) as u64, Relaxed);
            1
        }
    }
}

/// Gives nothing if the mappings cannot be read.
fn write(job: &Job, page: &Page) -> Option<io::Result<()>> {
    // SAFETY: what is read is in mappings of this copy that can be read.
    let memory = unsafe { ThisProcess::new() };
    // Before anything else has memory.
    let areas = areas(&memory, job.original.clone())?;
    let mut sampled = Vec::with_capacity(AT_ONCE);
    // SAFETY: this is the copy, made while the table was held.
    let tables = unsafe {
        each_tracked::<BlockWriter>(|address, block| {
            if block.epoch == job.epoch {
                let (address, size, id) = (address.0 as u64, block.size.0, block.id);
                sampled.push(Sampled { address, size, id });
            }
        })
    };
    page.blocks.store(sampled.len() as u64, Relaxed);
    let ours: Vec<Area> = tables.into_iter().map(|t| t.start as u64..t.end as u64).collect();
    let (caller, pid) = (job.caller, job.pid);
    let copy = Copy { areas, sampled, caller, pid, ours, heap: Vec::new(), reserved: Vec::new() };
    let mut found = Scan::new(memory, copy).finish();
    found.taken_unix_us = job.taken_unix_us;
    let bytes = found.to_bytes();
    page.bytes.store(bytes.len() as u64, Relaxed);
    Some(save(&job.folder, job.number, &bytes))
}
