//! The thread that measures what resident memory is used for, now and then and at the end, and writes it into
//! a file beside the trace ([`memtrail_recording::memory`]). It has a table of descriptors of its own.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use memtrail_recording::memory::{HEADING, MemoryFigures};

use crate::os::clock::thread_cpu_time;
use crate::os::errno::keeping_errno;
use crate::os::ffi_guard::guarded;
use crate::os::own_thread;
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
    let mut file = None;
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
        let written = append(recorder, &mut file, &figures);
        log.answer(request);
        if !written {
            return;
        }
        let cost = Duration::from_nanos(thread_cpu_time().saturating_sub(begun));
        pause = SHORTEST.max(cost.saturating_mul(COST)).max(elapsed / AGE);
    }
}

fn append(recorder: &Recorder, file: &mut Option<Output>, figures: &MemoryFigures) -> bool {
    let folder = &recorder.files.folder;
    let mut lines = figures.line();
    if file.is_none() {
        *file = Output::create(folder, FileKind::Memory).ok();
        lines.insert_str(0, &format!("{HEADING}\n"));
    }
    // Without the file nothing else is missing.
    file.as_mut().is_some_and(|file| file.append(folder, lines.as_bytes()).is_ok())
}
