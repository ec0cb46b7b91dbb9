//! Recordings of programs that have the sampler inside, under `memtrail run`.
//!
//! The program writes its recording itself, in the format of those of OCaml programs: all commands that show
//! allocations open it. Sampled blocks are queued by the threads that allocate. A thread of the sampler's
//! own looks up functions and lines, and writes the trace, every quarter of a second and at the program's
//! end; a program that is killed loses what was sampled since.

mod batch;
mod clock;
mod folder;
mod queue;
mod writer;

use std::sync::OnceLock;
use std::time::Duration;

use crate::events;
use crate::profile::{Profile, start_in_words};
use crate::rate::Rate;
use crate::signals::without_signals;
use folder::Folder;
use queue::Queue;

/// How often the trace is written.
const PERIOD: Duration = Duration::from_millis(250);

/// The profile of the recording, until the program's end.
static RECORDING: OnceLock<Profile<Queue>> = OnceLock::new();

/// Records this process, if `memtrail run` has started it; does nothing otherwise.
///
/// To be called once, at the beginning of `main`, in a program whose global allocator is
/// [`Alloc`](crate::Alloc). What cannot be recorded, `memtrail run` reports.
pub fn trace_if_requested() {
    let Some(folder) = Folder::requested() else { return };
    // The trace's rate is per word. At one sample a word all blocks are recorded as they are.
    let (rate, seed) = (folder.rate(), folder.seed());
    let per_byte = if rate >= 1.0 { Ok(Rate::EXACT) } else { Rate::per_byte(rate / 8.0) };
    let Ok(per_byte) = per_byte else { return };
    let depth = folder.callstack_size();
    let Ok(queue) = Queue::new(folder, per_byte) else { return };
    let Ok(profile) = start_in_words(per_byte, depth, queue, seed) else { return };
    let Ok(()) = RECORDING.set(profile) else { return };
    // SAFETY: the function is there until the program's end.
    unsafe { libc::atexit(at_exit) };
    let started = without_signals(|| {
        std::thread::Builder::new().name("memtrail".into()).spawn(|| {
            events::suspended(|| {
                while RECORDING.get().is_some_and(|profile| profile.tracker().write()) {
                    std::thread::sleep(PERIOD);
                }
            });
        })
    });
    // Without the thread, those that allocate write whenever the queue is long, and the exit the rest.
    drop(started);
}

extern "C" fn at_exit() {
    // The queue catches what the writer may do wrong; the profile goes on, so that blocks may be freed.
    events::suspended(|| RECORDING.get().map(|profile| profile.tracker().finish()));
}
