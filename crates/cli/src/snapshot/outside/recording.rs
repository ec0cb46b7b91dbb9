//! The recording that snapshots of a process which memtrail did not start are added to.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use memtrail_heap::write::Facts;
use memtrail_ocaml_snapshot::core_file::CoreProcess;
use memtrail_recording::{
    Clock, Description, FORMAT, FileState, Outcome, RecordedRuntime, Recording, Sampling, Snapshot,
    SnapshotReason, TRACE_FILE, TraceFile, folder_name,
};
use memtrail_trace::write::{Version, info_packet};
use memtrail_trace::{SampleRate, Timestamp, TraceInfo};

use super::source::Source;
use super::taken::Taken;
use crate::error::{Failure, Kind};

/// Why recordings of core files have no allocations.
const FROM_CORES: &str = "a core file has the heap alone, not where it was allocated";
/// Why recordings of processes that run have none.
const FROM_PROCESS: &str =
    "memtrail did not start the process, and reads the heap alone, not where it was allocated";
/// The start of a process is computed from the time since the machine's, in whole seconds.
const SAME_START_US: u64 = 2_000_000;
/// The rate that the empty trace names; nothing was drawn at it.
const RATE: f64 = 1e-4;
/// Bytes of a trace's first packet, at most.
const PACKET: usize = 1 << 15;
/// Signals that end a process with a core file (`signal(7)`): QUIT, ILL, TRAP, ABRT, BUS, FPE, SEGV, XCPU, XFSZ, SYS.
const DEADLY: [u16; 10] = [3, 4, 5, 6, 7, 8, 11, 24, 25, 31];

/// True if a recording was made of a process that memtrail did not start, and that may run on.
pub(in crate::snapshot) fn is_of_process(description: &Description) -> bool {
    description.sampling.impossible.as_deref() == Some(FROM_PROCESS)
}

/// A recording that is there, or will be.
pub(super) struct Destination {
    folder: PathBuf,
    description: Description,
    number: u64,
    taken_unix_us: u64,
}

impl Destination {
    /// Chooses the recording: a new one, or the one of the same process that `-o` names.
    pub(super) fn choose(taken: &Taken<'_>) -> Result<Self, Failure> {
        let program = taken.program();
        let name = program.rsplit('/').next().unwrap_or(&program);
        let mut again = 0;
        let folder = taken.output.map_or_else(
            || loop {
                let folder = PathBuf::from(folder_name(name, taken.core.program.pid, again));
                if !folder.exists() {
                    break folder;
                }
                again += 1;
            },
            Path::to_path_buf,
        );
        let new = Self {
            description: describe(taken),
            folder,
            number: 1,
            taken_unix_us: taken.at_unix_us,
        };
        if new.folder.exists() { new.after_others(taken.source) } else { Ok(new) }
    }

    /// Numbers the snapshot behind those of the recording, if that is of the same process.
    fn after_others(self, source: Source<'_>) -> Result<Self, Failure> {
        let refuse = |why: &str| {
            let message = format!("cannot add to {}: {why}", self.folder.display());
            Err(Failure::new(Kind::Input, message).hint("name a new folder: -o REC"))
        };
        let Some(known) = Recording::open(&self.folder)?.description else {
            return refuse("it has no recording.json");
        };
        let made_of = known.sampling.impossible.as_deref();
        if !made_of.is_some_and(|made_of| [FROM_CORES, FROM_PROCESS].contains(&made_of)) {
            return refuse("`memtrail run` writes it, or wrote it");
        }
        let own = &self.description;
        let (it, what) = match source {
            Source::CoreFile(_) => ("the core file of process", "the core file"),
            Source::Process(_) => ("this is process", "this snapshot"),
        };
        if (known.pid, &known.build_id) != (own.pid, &own.build_id) {
            return refuse(&format!(
                "it is of process {} of {}, and {it} {} of {}",
                known.pid, known.program, own.pid, own.program
            ));
        }
        let begins = (known.clock.start_unix_us, own.clock.start_unix_us);
        let have_begins = matches!(source, Source::Process(_)) && made_of == Some(FROM_PROCESS);
        if have_begins && begins.0.abs_diff(begins.1) > SAME_START_US {
            let seconds = begins.1.saturating_sub(begins.0) / 1_000_000;
            return refuse(&format!(
                "it is of an earlier process {} of {}, which began {seconds} s before this one",
                known.pid, known.program
            ));
        }
        let last = known.snapshots.iter().flatten().max_by_key(|snapshot| snapshot.number);
        let (number, taken) = last.map_or((0, 0), |last| (last.number, last.taken_unix_us));
        if self.taken_unix_us < taken {
            return refuse(&format!(
                "{what} is older than snapshot {number}: add snapshots in their order"
            ));
        }
        Ok(Self { number: number + 1, description: known, ..self })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Facts about the snapshot: process, moment and number.
    pub(super) fn facts(&self, taken: &Taken<'_>) -> Facts {
        let clock = self.description.clock;
        let since = self.taken_unix_us.saturating_sub(clock.start_unix_us) * 1000;
        let name = self.description.arguments.first();
        Facts {
            taken_at: self.taken_unix_us * 1000,
            clock: clock.start_monotonic_ns + since,
            pause: taken.pause.map_or(0, |pause| pause.as_nanos() as u64),
            number: self.number,
            reason: Some(SnapshotReason::Request),
            label: taken.label.unwrap_or_default().into(),
            program: name.cloned().unwrap_or_default().into_bytes(),
            runtime: taken.process.version().name().into(),
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

fn describe(taken: &Taken<'_>) -> Description {
    let (core, executables) = (taken.core, taken.executables);
    let arguments = String::from_utf8_lossy(&core.program.arguments).into_owned();
    let is_core = matches!(taken.source, Source::CoreFile(_));
    let impossible = if is_core { FROM_CORES } else { FROM_PROCESS };
    // The kernel puts blanks between the arguments in a core file, and zeros in the memory of a process.
    let arguments = if is_core { arguments.replace(' ', "\0") } else { arguments };
    let arguments = arguments.split('\0').filter(|argument| !argument.is_empty());
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let signal = core.threads.first().map_or(0, |thread| thread.signal);
    let is_deadly = DEADLY.contains(&signal);
    Description {
        format: FORMAT,
        memtrail: env!("CARGO_PKG_VERSION").into(),
        program: taken.program(),
        arguments: arguments.map(str::to_owned).collect(),
        pid: core.program.pid,
        forked_from: None,
        ancestors: Vec::new(),
        host: if is_core { "an unknown machine".into() } else { host.trim().into() },
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
            impossible: Some(impossible.into()),
            malloc_rate: None,
            checked: None,
        },
        // The clock of a core file is not known: it begins with the first one.
        clock: Clock {
            start_unix_us: taken.began_unix_us.unwrap_or(taken.at_unix_us),
            start_monotonic_ns: 1,
        },
        ended_unix_us: None,
        build_id: executables.build_id().map(str::to_owned),
        labels: BTreeMap::new(),
        context: None,
        disk: None,
        shares_disk: false,
        attached: false,
        trace: TraceFile { state: FileState::Complete, ..TraceFile::growing() },
        snapshots: None,
        notes: vec![format!("no allocations were recorded: {impossible}")],
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
