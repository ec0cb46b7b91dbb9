//! Recordings that grow: what their programs write reaches the engine, and the page hears of it.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memtrail_engine::{Engine, RecordingId};
use memtrail_recording::{Description, Recording, is_alive, is_this_host};
use memtrail_server::RecordingEvents;

use crate::error::Failure;
use crate::recording_facts;
use crate::snapshot_file::{self, MemoryArgs, SnapshotFiles};
use crate::types::lookup;
use crate::{loading, naming, references, trace_file};

/// Between two looks at a growing trace. Agents write twice a second.
const PAUSE: Duration = Duration::from_millis(500);
/// Between two readings of a whole trace for a packet that it does not have yet, as a multiple of the time of one.
const SHARE: u32 = 20;
/// Looks after a program's death in which its recording must be closed; launchers take a moment.
const LOOKS_AFTER_DEATH: u32 = 6;

/// Reads a recording, and if it still grows goes on reading in a thread of its own.
pub(crate) fn follow(
    engine: &Arc<Engine>,
    recording_events: &RecordingEvents,
    recording: Recording,
    memory: MemoryArgs,
) -> Result<RecordingId, Failure> {
    let mut known = HashSet::new();
    let looked_at = None;
    if !recording_facts::grows(&recording) {
        lookup::look_up(&recording.path);
        let id = loading::add(engine, &recording)?;
        bring_snapshots(engine, id, &recording, memory, &mut known);
        bring_references(engine, id, &recording);
        return Ok(id);
    }
    let id = engine.add_growing(loading::describe(&recording), naming::naming(&recording));
    let mut growing = Growing {
        engine: Arc::clone(engine),
        recording_events: recording_events.clone(),
        recording,
        id,
        known,
        looked_at,
        memory,
        trace: None,
        length: 0,
        live: None,
        next_whole: Instant::now(),
    };
    // The second time it has what a native program has not written.
    growing
        .read()
        .and_then(|()| growing.read())
        .map_err(|error| Failure::unreadable(&growing.recording.trace, &error))?;
    std::thread::Builder::new()
        .name("follow".into())
        .spawn(move || growing.until_it_ends())
        .map_err(|error| {
            Failure::new(crate::error::Kind::Work, format_args!("cannot start a thread: {error}"))
        })?;
    Ok(id)
}

struct Growing {
    engine: Arc<Engine>,
    recording_events: RecordingEvents,
    recording: Recording,
    id: RecordingId,
    /// Snapshots that the engine has.
    known: HashSet<u64>,
    /// The last snapshot whose references it has.
    looked_at: Option<u64>,
    memory: MemoryArgs,
    /// The file that was read: device and inode.
    trace: Option<(u64, u64)>,
    /// Its bytes then.
    length: u64,
    /// Bytes of the packet beyond its end that the engine has.
    live: Option<usize>,
    /// When the trace is read as a whole again for such a packet, at the earliest.
    next_whole: Instant,
}

/// New bytes of a trace.
enum TraceChange {
    /// More of it.
    Tail(Vec<u8>),
    /// All of it: another file with less of its history, or what the file does not have yet.
    Whole(Vec<u8>),
}

/// Gives the engine the snapshots that it does not know; the number of the last of them.
fn bring_snapshots(
    engine: &Engine,
    id: RecordingId,
    recording: &Recording,
    memory: MemoryArgs,
    known: &mut HashSet<u64>,
) -> Option<u64> {
    // A bare trace has none, whatever stands beside it.
    let folder = recording.path.is_dir().then_some(&recording.path)?;
    let mut last = None;
    let mut files = None;
    for (number, path) in snapshot_file::of_recording(folder) {
        if known.insert(number) {
            let files = files.get_or_insert_with(|| SnapshotFiles::of_recording(folder, memory));
            let (facts, file) = files.open(&path, Some(number));
            engine.add_snapshot(id, facts, Some(file));
            last = Some(number);
        }
    }
    last
}

/// Gives the engine the last references to blocks from `malloc`. Growth is shown without them, too.
fn bring_references(engine: &Engine, id: RecordingId, recording: &Recording) {
    if let Ok(Some(failure)) | Err(failure) = references::give(engine, id, recording, None) {
        engine.set_references(id, Err(failure.message().to_owned()));
    }
}

impl Growing {
    fn until_it_ends(&mut self) {
        let mut looks = 0;
        loop {
            std::thread::sleep(PAUSE);
            // The state first: what is there when it says that it is complete is complete.
            let now = match Recording::open(&self.recording.path) {
                Ok(Recording { problem: Some(problem), .. }) => return self.lost(&problem),
                Ok(now) => now,
                Err(error) => return self.lost(&error),
            };
            self.recording = now;
            if let Err(error) = self.read() {
                return self.lost(&error);
            }
            if !recording_facts::grows(&self.recording) {
                return self.ended();
            }
            let gone = self.recording.description.as_ref().is_some_and(is_gone);
            looks = if gone { looks + 1 } else { 0 };
            if looks == LOOKS_AFTER_DEATH {
                return self.lost(&"its program is gone, and nobody closed the recording");
            }
        }
    }

    /// Gives the engine what has come.
    fn read(&mut self) -> io::Result<()> {
        // Whose blocks are whose is to be known when they are read.
        self.engine.describe(self.id, loading::describe(&self.recording));
        let change = self.read_change()?;
        let last = references::of_recording(&self.recording.path).last().map(|(number, _)| *number);
        if last > self.looked_at {
            bring_references(&self.engine, self.id, &self.recording);
            self.looked_at = last;
        }
        let grown = match &change {
            TraceChange::Tail(tail) => self.engine.grow(self.id, tail),
            TraceChange::Whole(trace) => {
                let begun = Instant::now();
                let grown = self.engine.read_again(self.id, trace);
                self.next_whole = Instant::now() + begun.elapsed() * SHARE;
                grown
            }
        };
        if let Some(grown) = grown {
            self.recording_events.grown(self.id, grown);
        }
        let last =
            bring_snapshots(&self.engine, self.id, &self.recording, self.memory, &mut self.known);
        if let Some(number) = last {
            self.recording_events.snapshot(self.id, number);
        }
        Ok(())
    }

    /// The trace from where the engine stopped reading, or as a whole if it is another file by now.
    fn read_change(&mut self) -> io::Result<TraceChange> {
        let mut file = File::open(&self.recording.trace)?;
        let metadata = file.metadata()?;
        let identity = (metadata.dev(), metadata.ino());
        let is_thinned = self.trace.replace(identity).is_some_and(|before| before != identity);
        let is_same = std::mem::replace(&mut self.length, metadata.len()) == metadata.len();
        let mut bytes = Vec::new();
        let is_quiet = is_same && !is_thinned;
        if is_quiet && self.has_unwritten() {
            return Ok(TraceChange::Whole(trace_file::open_as_written(&self.recording)?.to_vec()));
        }
        // The engine has read beyond what was the end.
        let is_whole = is_thinned || (!is_quiet && self.live.take().is_some());
        if !is_whole {
            file.seek(SeekFrom::Start(self.engine.offset(self.id)))?;
        }
        file.read_to_end(&mut bytes)?;
        Ok(if is_whole { TraceChange::Whole(bytes) } else { TraceChange::Tail(bytes) })
    }

    /// True if a native program that allocates nothing for a while has not written all, and the engine has less.
    fn has_unwritten(&mut self) -> bool {
        if Instant::now() < self.next_whole {
            return false;
        }
        let bytes = trace_file::unwritten_bytes(&self.recording);
        bytes.is_some_and(|bytes| self.live.replace(bytes) != Some(bytes))
    }

    fn ended(&mut self) {
        let description = loading::describe(&self.recording);
        let finished = self.read_change().map_err(|error| error.to_string()).and_then(|change| {
            let tail = match change {
                TraceChange::Tail(tail) => tail,
                TraceChange::Whole(trace) => {
                    self.engine.read_again(self.id, &trace);
                    let read = self.engine.offset(self.id) as usize;
                    trace.get(read..).unwrap_or_default().to_vec()
                }
            };
            self.engine.finish(self.id, &tail).map_err(|error| error.to_string())
        });
        match finished {
            Ok(grown) => self.recording_events.grown(self.id, grown),
            Err(error) => return self.lost(&error),
        }
        bring_references(&self.engine, self.id, &self.recording);
        let outcome = description.outcome.clone();
        self.engine.describe(self.id, description);
        self.recording_events.ended(self.id, outcome);
    }

    fn lost(&self, why: &dyn std::fmt::Display) {
        let mut description = loading::describe(&self.recording);
        description.state = memtrail_engine::describe::State::Lost;
        self.engine.describe(self.id, description);
        self.recording_events.lost(self.id, why.to_string());
    }
}

/// Whether the process is gone, as far as can be told from this machine.
fn is_gone(description: &Description) -> bool {
    is_this_host(&description.host) && !is_alive(description.pid)
}
