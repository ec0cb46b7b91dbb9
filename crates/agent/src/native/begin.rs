//! How the recording of a native program begins.

use std::sync::Arc;

use memtrail_recording::session::{SnapshotOptions, live_packet_name};
use memtrail_recording::{RecordedRuntime, Sampling};
use memtrail_trace::BlockId;
use memtrail_trace::write::{StreamWriter, Version};

use crate::native::current::Recording;
use crate::native::mappings::Mappings;
use crate::native::resident::Resident;
use crate::native::setting::Setting;
use crate::native::stream::{DOMAIN, Files, Stream};
use crate::os::clock::Clock;
use crate::recording::describe::{Recorded, WORD_BITS, describe, info_packet};
use crate::recording::folder::Folder;
use crate::recording::live_packet;
use crate::recording::modules::Modules;
use crate::recording::output::{FileKind, Output};
use crate::recording::rate_log::RateLog;
use crate::recording::room::Room;

/// A note on a forked process.
const NONE_WHILE_IT_RUNS: &str = "no snapshot is taken on request or at intervals in a process that was forked; at its end there is \
     one (--snapshot exit)";

/// Makes the recording's folder and begins its trace. The launcher is [told](Recording::report) by the caller. The reason is the
/// error.
pub(super) fn begin(
    setting: &'static Setting,
    forked_from: Option<u32>,
    epoch: u32,
) -> Result<&'static Recording, String> {
    let pid = std::process::id();
    let clock = Clock::start();
    let folder =
        Arc::new(Folder::make((&setting.options, &setting.session), pid, forked_from.is_some())?);
    let failed = |errno: i32| {
        let error = std::io::Error::from_raw_os_error(errno);
        format!("cannot write into {}: {error}", folder.path().display())
    };
    let mut description = describe(of_native_program(setting, forked_from), &clock, pid);
    let snapshots = setting.options.snapshots.as_ref();
    // A thread of ours takes these, which a forked process does not have.
    let is_asked = |asked: fn(&SnapshotOptions) -> bool| snapshots.is_some_and(asked);
    let is_forked = forked_from.is_some();
    description.snapshots = (!is_forked && is_asked(SnapshotOptions::has_thread)).then(Vec::new);
    if is_forked && is_asked(SnapshotOptions::has_thread) {
        description.notes.push(NONE_WHILE_IT_RUNS.to_owned());
    }
    let mut output = Output::create(&folder, FileKind::Trace)
        .map_err(failed)?
        .with_limit(setting.options.largest_trace());
    output.append(&folder, &info_packet(&setting.options, &description)).map_err(failed)?;
    folder.save(&description).map_err(|error| failed(error.errno))?;
    let tail = setting.session.join(live_packet_name(pid, folder.image(), 0));
    let memory = live_packet::map(Some(&tail)).ok_or("there is no memory for its trace")?;
    let first = BlockId(0);
    let writer = StreamWriter::new(memory, Version::V2, u64::from(pid), DOMAIN, clock.now(), first)
        .map_err(|error| error.to_string())?;
    let mut modules = Modules::new();
    if description.ancestors.is_empty() {
        // The list names the program's allocator, even if nothing is sampled.
        modules.begin(&folder, clock.now());
    }
    let resident = Resident::new(clock, Arc::clone(&folder));
    let room = Room::new(setting.options.largest_trace(), setting.seed);
    let rates = RateLog::default();
    let files = Files { setting, clock, folder, output, room, rates, modules, description };
    let stream = Stream::new(files, writer);
    let mappings = Mappings::new(setting.per_byte, setting.seed);
    Ok(Recording::install(setting, (pid, epoch), resident, stream, mappings))
}

fn of_native_program(setting: &Setting, forked_from: Option<u32>) -> Recorded<'_> {
    Recorded {
        options: &setting.options,
        arguments: &setting.arguments,
        runtime: RecordedRuntime::native(WORD_BITS),
        sampling: Sampling {
            rate: setting.rate.min(1.0),
            seed: setting.seed,
            callstacks: "unwinder".into(),
            callstack_depth: None,
            small_minor_heap: None,
            impossible: None,
            malloc_rate: None,
            checked: None,
        },
        forked_from,
    }
}
