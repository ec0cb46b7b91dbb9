//! Which thread allocated each block: a line each time that another thread's sample comes.
//!
//! The trace's format knows domains, not threads. The file beside it
//! ([`memtrail_recording::threads`]) is made when a second thread is met, so that programs of one
//! thread have none. It has a part of the disk space: blocks that come later are those of a thread that says so.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use memtrail_recording::threads::HEADING;
use memtrail_trace::{BlockId, DomainId};

use crate::os::errno::keeping_errno;
use crate::recording::folder::Folder;
use crate::recording::output::{FileKind, Output};

/// Who allocated a block: a thread's number, from 1. No other thread of the process, or of those it
/// was forked from, ever has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadId(pub(crate) u32);

/// A thread, as the file knows it.
pub(crate) struct Identity {
    pub(crate) thread_id: ThreadId,
    /// The folder, by its address, in which its name was last put down.
    introduced_in: usize,
}

/// The thread of all blocks after the list's limit.
const UNLISTED: ThreadId = ThreadId(u32::MAX);
const UNLISTED_NAME: &str = "[not listed: limit of --disk]";

static THREADS: AtomicU32 = AtomicU32::new(0);

impl Identity {
    /// For a thread that is new to us.
    pub(crate) fn new() -> Self {
        let thread_id = ThreadId(THREADS.fetch_add(1, Relaxed).wrapping_add(1));
        Self { thread_id, introduced_in: 0 }
    }
}

/// The file under way.
pub(crate) struct ThreadLog {
    /// Bytes after which no thread is listed.
    limit: u64,
    /// Domains of which the list has ended.
    ended: Vec<DomainId>,
    /// Whose the first block was; all are until there is a file.
    first: Option<ThreadId>,
    output: Option<Output>,
    failed: bool,
}

impl ThreadLog {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, ended: Vec::new(), first: None, output: None, failed: false }
    }

    /// Lets nothing more be written, in a forked child.
    pub(crate) fn close(&mut self) {
        self.output = None;
        self.failed = true;
    }

    /// Appends what waits for room on the disk.
    pub(crate) fn append_waiting(&mut self, folder: &Folder) {
        if let Some(output) = &mut self.output {
            output.append_waiting(folder);
        }
    }

    /// From block `id` of `domain` on, blocks are of `thread`. `at_work` runs this.
    pub(crate) fn switched(
        &mut self,
        folder: &Folder,
        domain: DomainId,
        id: BlockId,
        thread_id: ThreadId,
        at_work: &mut Identity,
    ) {
        let first = *self.first.get_or_insert(thread_id);
        if self.failed || self.output.is_none() && first == thread_id && domain == DomainId(0) {
            return;
        }
        if self.output.as_ref().is_some_and(|output| output.total() >= self.limit) {
            return keeping_errno(|| self.end(folder, domain, id));
        }
        keeping_errno(|| {
            let mut lines = String::new();
            if self.output.is_none() {
                let Ok(output) = Output::create(folder, FileKind::Threads) else {
                    self.failed = true;
                    return;
                };
                self.output = Some(output);
                // Writing to a string does not fail.
                let _ = write!(lines, "{HEADING}\nb 0 0 {}\n", first.0);
            }
            // Each recording has a folder that lives as long as the process.
            let here = std::ptr::from_ref(folder).addr();
            if thread_id == at_work.thread_id && at_work.introduced_in != here {
                at_work.introduced_in = here;
                let _ = writeln!(lines, "t {} {} {}", thread_id.0, gettid(), name());
            }
            let _ = writeln!(lines, "b {} {} {}", domain.0, id.0, thread_id.0);
            if let Some(output) = &mut self.output {
                // Without the list, threads are not reported separately: the trace is whole.
                let _ = output.append(folder, lines.as_bytes());
            }
        });
    }

    /// Ends the list of a domain, once.
    fn end(&mut self, folder: &Folder, domain: DomainId, id: BlockId) {
        if self.ended.contains(&domain) {
            return;
        }
        let mut lines = String::new();
        if self.ended.is_empty() {
            let _ = writeln!(lines, "t {} 0 {UNLISTED_NAME}", UNLISTED.0);
        }
        let _ = writeln!(lines, "b {} {} {}", domain.0, id.0, UNLISTED.0);
        self.ended.push(domain);
        if let Some(output) = &mut self.output {
            // Likewise.
            let _ = output.append(folder, lines.as_bytes());
        }
    }
}

fn gettid() -> libc::pid_t {
    // SAFETY: plain system call.
    unsafe { libc::gettid() }
}

/// The name of this thread, as `ps -T` shows it.
fn name() -> String {
    let mut bytes = [0_u8; 16];
    // SAFETY: the kernel writes 16 bytes at most, the last of them 0.
    unsafe { libc::prctl(libc::PR_GET_NAME, bytes.as_mut_ptr()) };
    let name = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(name).replace('\n', " ")
}
