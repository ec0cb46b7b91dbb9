//! How a recording begins.

use memtrail_recording::session::State;

use crate::context::target::Target;
use crate::os::clock::Clock;
use crate::recording::collections::CollectionLog;
use crate::recording::files::RecordingFiles;
use crate::recording::folder::Folder;
use crate::recording::hooks::Hooks;
use crate::recording::installed::install;
use crate::recording::memory::MemoryLog;
use crate::recording::output::{FileKind, Output};
use crate::recording::recorder::Recorder;
use crate::recording::report::report;
use crate::recording::small_heap::SmallHeap;
use crate::recording::{describe, flusher, memory_thread};

/// Makes the recording's folder and begins its trace. The reason is the error.
pub(crate) fn begin(
    target: &'static Target,
    hooks: &'static Hooks,
    forked_from: Option<u32>,
    epoch: u8,
) -> Result<&'static Recorder, String> {
    let pid = std::process::id();
    let clock = Clock::start();
    let folder = Folder::make((&target.options, &target.session), pid, forked_from.is_some())?;
    let failed = |errno: i32| {
        let error = std::io::Error::from_raw_os_error(errno);
        format!("cannot write into {}: {error}", folder.path().display())
    };
    let mut output = Output::create(&folder, FileKind::Trace)
        .map_err(failed)?
        .with_limit(target.options.largest_trace());
    let small_heap = SmallHeap::default();
    small_heap.look(&target.runtime, &target.memory, target.runtime.state());
    let mut description = describe::description(target, &clock, pid, forked_from);
    small_heap.note(&mut description);
    output
        .append(&folder, &describe::info_packet(&target.options, &description))
        .map_err(failed)?;
    folder.save(&description).map_err(|error| failed(error.errno))?;
    let state = State::Recording { folder: folder.path().to_owned(), failure: None };
    let image = folder.image();
    let memory = MemoryLog::new(target.runtime.state());
    let collections = CollectionLog::new(target);
    let files = RecordingFiles::new(target, hooks, clock, (pid, epoch), folder, output);
    let recorder = install(Recorder::new(files, description, small_heap, memory, collections));
    (hooks.began)();
    report(&target.session, pid, image, state);
    flusher::start();
    memory_thread::start(recorder);
    Ok(recorder)
}
