//! The thread that measures what resident memory is used for, now and then and at the end, and writes it into
//! a file beside the trace ([`memtrail_recording::memory`]), and into another one what the garbage collector did
//! meanwhile ([`memtrail_recording::collections`]). It has a table of descriptors of its own.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use memtrail_recording::{collections, memory};

use crate::os::clock::thread_cpu_time;
use crate::os::errno::keeping_errno;
use crate::os::ffi_guard::guarded;
use crate::os::{own_thread, rest};
use crate::recording::collection_hooks::are_ours;
use crate::recording::figure_log::FigureLog;
use crate::recording::installed::own;
use crate::recording::memory::pace;
use crate::recording::output::FileKind;
use crate::recording::recorder::Recorder;

/// The work is done on the private stack.
const STACK: usize = 128 * 1024;
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
            recorder.memory.set_running(true);
            let kept = recorder.memory.logs.try_lock_for().and_then(|mut logs| logs.take());
            let mut logs = kept.unwrap_or_else(|| {
                [
                    FigureLog::new(FileKind::Memory, memory::HEADING),
                    FigureLog::new(FileKind::Collections, collections::HEADING),
                ]
            });
            keeping_errno(|| measure(recorder, &mut logs));
            // The thread may begin again.
            if let Some(mut kept) = recorder.memory.logs.try_lock_for() {
                *kept = Some(logs);
            }
            recorder.memory.set_running(false);
        }
    });
}

/// Until the recording or the main thread has ended.
fn measure(recorder: &Recorder, [memory, collections]: &mut [FigureLog; 2]) {
    let (log, files) = (&recorder.memory, &recorder.files);
    let (mut pause, mut rest) = (pace::FIRST, rest::Rest::begin(rest::LOOKING));
    loop {
        let request = log.sleep(pause);
        if own_thread::main_has_ended() || files.stopped.load(Relaxed) {
            return;
        }
        rest::begin_own_work();
        let begun = thread_cpu_time();
        let elapsed = files.clock.now().0.saturating_sub(files.clock.start.0);
        let elapsed = Duration::from_micros(elapsed);
        let mut figures = log.measure(files.target, elapsed);
        figures.cpu = Some(files.clock.cpu());
        let collected = recorder.collections.figures(files.target, elapsed, are_ours);
        // A file that cannot be written leaves the other one as it is.
        let written = [
            memory.append(&files.folder, &figures.line()),
            collections.append(&files.folder, &collected.line()),
        ];
        log.answer(request);
        let cost = thread_cpu_time().saturating_sub(begun);
        rest::end_own_work(cost);
        if written == [false, false] {
            return;
        }
        let cost = Duration::from_nanos(cost);
        pause = rest.lengthened(pace::next(cost, elapsed));
    }
}
