//! The thread that measures what resident memory is used for, now and then and at the end, and writes it into
//! a file beside the trace ([`memtrail_recording::memory`]), and into another one what the garbage collector did
//! meanwhile ([`memtrail_recording::collections`]). It has a table of descriptors of its own.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use memtrail_recording::{collections, memory};

use crate::os::clock::thread_cpu_time;
use crate::os::errno::keeping_errno;
use crate::os::ffi_guard::guarded;
use crate::os::own_thread;
use crate::recording::folder::Folder;
use crate::recording::installed::own;
use crate::recording::output::{FileKind, Output};
use crate::recording::recorder::Recorder;

/// The work is done on the private stack.
const STACK: usize = 128 * 1024;
/// When it is measured for the first time, and then at least this long apart.
const FIRST: Duration = Duration::from_millis(250);
const SHORTEST: Duration = Duration::from_secs(1);
/// The time between two is at least so many times the processor time of the last one,
const COST: u32 = 500;
/// and grows with the recording's age, of which it is this part, so that files of long recordings stay small.
const AGE: u32 = 250;

/// Starts the thread. Without it (no more threads allowed) there are no figures.
pub(crate) fn start(recorder: &Recorder) {
    recorder.memory.set_running(true);
    if !own_thread::start(STACK, run) {
        recorder.memory.set_running(false);
    }
}

/// Wakes the thread, which is to end.
pub(crate) fn wake() {
    if let Some(recorder) = own() {
        recorder.memory.request();
    }
}

extern "C" fn run() {
    guarded((), || {
        own_thread::part_with_descriptors();
        if let Some(recorder) = own() {
            keeping_errno(|| measure(recorder));
            recorder.memory.set_running(false);
        }
    });
}

/// Until the recording or the main thread has ended.
fn measure(recorder: &Recorder) {
    let (log, files) = (&recorder.memory, &recorder.files);
    let mut memory = Log::new(FileKind::Memory, memory::HEADING);
    let mut collections = Log::new(FileKind::Collections, collections::HEADING);
    let mut pause = FIRST;
    loop {
        let request = log.sleep(pause);
        if own_thread::main_has_ended() || files.stopped.load(Relaxed) {
            return;
        }
        let begun = thread_cpu_time();
        let elapsed = files.clock.now().0.saturating_sub(files.clock.start.0);
        let elapsed = Duration::from_micros(elapsed);
        let figures = log.measure(files.target, elapsed);
        let collected = recorder.collections.figures(files.target, elapsed);
        // A file that cannot be written leaves the other one as it is.
        let written = [
            memory.append(&files.folder, &figures.line()),
            collections.append(&files.folder, &collected.line()),
        ];
        log.answer(request);
        if written == [false, false] {
            return;
        }
        let cost = Duration::from_nanos(thread_cpu_time().saturating_sub(begun));
        pause = SHORTEST.max(cost.saturating_mul(COST)).max(elapsed / AGE);
    }
}

/// A file of lines, made with its first one.
struct Log {
    kind: FileKind,
    heading: &'static str,
    file: Option<Output>,
    /// Whether it could not be made.
    failed: bool,
}

impl Log {
    fn new(kind: FileKind, heading: &'static str) -> Self {
        Self { kind, heading, file: None, failed: false }
    }

    /// Whether the line was written. Without the file nothing else is missing.
    fn append(&mut self, folder: &Folder, line: &str) -> bool {
        if self.file.is_some() {
            return self.write(folder, line);
        }
        if !self.failed {
            self.file = Output::create(folder, self.kind).ok();
            self.failed = self.file.is_none();
        }
        self.write(folder, &format!("{}\n{line}", self.heading))
    }

    fn write(&mut self, folder: &Folder, text: &str) -> bool {
        self.file.as_mut().is_some_and(|file| file.append(folder, text.as_bytes()).is_ok())
    }
}
