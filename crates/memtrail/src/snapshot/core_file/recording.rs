//! The recording that snapshots of core files are added to.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use memtrail_heap::write::Facts;
use memtrail_ocaml_snapshot::core_file::{CoreFile, CoreProcess};
use memtrail_recording::{
    Clock, Description, FORMAT, FileState, Outcome, RecordedRuntime, Recording, Sampling, Snapshot,
    SnapshotReason, TRACE_FILE, TraceFile, folder_name,
};
use memtrail_trace::write::{Version, info_packet};
use memtrail_trace::{SampleRate, Timestamp, TraceInfo};

use super::CoreArgs;
use super::executables::Executables;
use crate::error::{Failure, Kind};

/// Why recordings of core files have no allocations.
const IMPOSSIBLE: &str = "a core file has the heap alone, not where it was allocated";
/// The rate that the empty trace names; nothing was drawn at it.
const RATE: f64 = 1e-4;
/// Bytes of a trace's first packet, at most.
const PACKET: usize = 1 << 15;
/// Signals that end a process with a core file (`signal(7)`): QUIT, ILL, TRAP, ABRT, BUS, FPE, SEGV, XCPU, XFSZ, SYS.
const DEADLY: [u16; 10] = [3, 4, 5, 6, 7, 8, 11, 24, 25, 31];

/// A recording that is there, or will be.
pub(super) struct Destination {
    folder: PathBuf,
    description: Description,
    number: u64,
    taken_unix_us: u64,
}

impl Destination {
    /// Chooses the recording: a new one, or the one of the same process that `-o` names.
    pub(super) fn choose(
        core: &CoreFile<'_>,
        executables: &Executables,
        args: &CoreArgs<'_>,
        taken_unix_us: u64,
    ) -> Result<Self, Failure> {
        let program = executables.path();
        let name = program.rsplit('/').next().unwrap_or(&program);
        let mut again = 0;
        let folder = args.output.map_or_else(
            || loop {
                let folder = PathBuf::from(folder_name(name, core.program.pid, again));
                if !folder.exists() {
                    break folder;
                }
                again += 1;
            },
            Path::to_path_buf,
        );
        let new = Self {
            description: describe(core, executables, taken_unix_us),
            folder,
            number: 1,
            taken_unix_us,
        };
        if new.folder.exists() { new.after_others() } else { Ok(new) }
    }

    /// Numbers the snapshot behind those of the recording, if that is of the same process.
    fn after_others(self) -> Result<Self, Failure> {
        let refuse = |why: &str| {
            let message = format!("cannot add to {}: {why}", self.folder.display());
            Err(Failure::new(Kind::Input, message).hint("name a new folder: -o REC"))
        };
        let Some(known) = Recording::open(&self.folder)?.description else {
            return refuse("it has no recording.json");
        };
        if known.sampling.impossible.as_deref() != Some(IMPOSSIBLE) {
            return refuse("it was not made from core files");
        }
        let own = &self.description;
        if (known.pid, &known.build_id) != (own.pid, &own.build_id) {
            return refuse(&format!(
                "it is of process {} of {}, and the core file of process {} of {}",
                known.pid, known.program, own.pid, own.program
            ));
        }
        let last = known.snapshots.iter().flatten().max_by_key(|snapshot| snapshot.number);
        let (number, taken) = last.map_or((0, 0), |last| (last.number, last.taken_unix_us));
        if self.taken_unix_us < taken {
            return refuse(&format!(
                "the core file is older than snapshot {number}: add core files in their order"
            ));
        }
        Ok(Self { number: number + 1, description: known, ..self })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Facts about the snapshot: process, moment and number.
    pub(super) fn facts(&self, process: &CoreProcess<'_>) -> Facts {
        let clock = self.description.clock;
        let since = self.taken_unix_us.saturating_sub(clock.start_unix_us) * 1000;
        let name = self.description.arguments.first();
        Facts {
            taken_at: self.taken_unix_us * 1000,
            clock: clock.start_monotonic_ns + since,
            pause: 0,
            number: self.number,
            reason: Some(SnapshotReason::Request),
            label: process.label().unwrap_or_default().into(),
            program: name.cloned().unwrap_or_default().into_bytes(),
            runtime: process.version().name().into(),
            pid: u64::from(self.description.pid),
            counters: Vec::new(),
        }
    }

    /// Makes the folder, if it is new.
    pub(super) fn create(&self) -> Result<(), Failure> {
        let cannot = |error: std::io::Error| {
            Failure::new(Kind::Work, format_args!("cannot make {}: {error}", self.folder.display()))
        };
        if !self.folder.exists() {
            fs::DirBuilder::new().mode(0o700).create(&self.folder).map_err(cannot)?;
        }
        Ok(())
    }

    /// Adds a snapshot whose file is there to the recording's description.
    pub(super) fn add(
        &mut self,
        process: &CoreProcess<'_>,
        snapshot: &Snapshot,
        notes: &[String],
    ) -> Result<(), Failure> {
        let description = &mut self.description;
        if snapshot.number == 1 {
            description.runtime.version = process.version().name().into();
            description.runtime.parameters = process.parameters();
            description.trace.bytes = write_trace(&self.folder, description)?;
        }
        description.ended_unix_us = Some(snapshot.taken_unix_us);
        let notes = notes.iter().map(|note| format!("snapshot {}: {note}", snapshot.number));
        description.notes.extend(notes);
        description.snapshots.get_or_insert_default().push(snapshot.clone());
        description.save(&self.folder)?;
        Ok(())
    }
}

fn describe(core: &CoreFile<'_>, executables: &Executables, taken_unix_us: u64) -> Description {
    let arguments = String::from_utf8_lossy(&core.program.arguments).into_owned();
    let signal = core.threads.first().map_or(0, |thread| thread.signal);
    let is_deadly = DEADLY.contains(&signal);
    Description {
        format: FORMAT,
        memtrail: env!("CARGO_PKG_VERSION").into(),
        program: executables.path(),
        arguments: arguments.split_whitespace().map(str::to_owned).collect(),
        pid: core.program.pid,
        forked_from: None,
        ancestors: Vec::new(),
        host: "an unknown machine".into(),
        runtime: RecordedRuntime {
            language: "OCaml".into(),
            version: String::new(),
            word_bits: 64,
            parameters: String::new(),
        },
        sampling: Sampling {
            rate: RATE,
            seed: 0,
            callstacks: "none".into(),
            callstack_depth: None,
            small_minor_heap: None,
            impossible: Some(IMPOSSIBLE.into()),
            malloc_rate: None,
            checked: None,
        },
        // The clock of a core file is not known: it begins with the first one.
        clock: Clock { start_unix_us: taken_unix_us, start_monotonic_ns: 1 },
        ended_unix_us: None,
        build_id: executables.build_id().map(str::to_owned),
        trace: TraceFile { state: FileState::Complete, ..TraceFile::growing() },
        snapshots: None,
        notes: vec![format!("no allocations were recorded: {IMPOSSIBLE}")],
        outcome: is_deadly.then_some(Outcome::Killed { signal: signal.into() }),
    }
}

/// Writes a trace without blocks, and returns its length in bytes.
fn write_trace(folder: &Path, description: &Description) -> Result<u64, Failure> {
    let file = folder.join(TRACE_FILE);
    let info = TraceInfo {
        sample_rate: SampleRate(description.sampling.rate),
        word_bits: description.runtime.word_bits,
        executable: description.program.clone(),
        host: description.host.clone(),
        runtime_params: description.runtime.parameters.clone(),
        pid: u64::from(description.pid),
        start: Timestamp(description.clock.start_unix_us),
        context: None,
    };
    let mut packet = vec![0; PACKET];
    // Refused only by a buffer that is too small, which this is not.
    let length = info_packet(&mut packet, &info, Version::V2).unwrap_or(0);
    packet.truncate(length);
    let mut options = fs::OpenOptions::new();
    let opened = options.write(true).create(true).truncate(true).mode(0o600).open(&file);
    opened.and_then(|mut open| std::io::Write::write_all(&mut open, &packet)).map_err(|error| {
        Failure::new(Kind::Work, format_args!("cannot write {}: {error}", file.display()))
    })?;
    Ok(length as u64)
}
