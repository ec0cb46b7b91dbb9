//! The recording's folder, as the launcher asked for it, and its description.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use memtrail_recording::session::{self, Options, Pace, SESSION_VARIABLE, State, Status};
use memtrail_recording::{
    Description, FORMAT, FileState, RecordedRuntime, Sampling, TRACE_FILE, TraceFile,
};
use memtrail_trace::{SampleRate, Timestamp, TraceInfo};

use crate::callstack::MAX_FRAMES;
use crate::recording::clock::TraceClock;

/// Samples a word where the user has not given a rate: one for 512 KiB.
const DEFAULT_RATE: f64 = 8.0 / (512 << 10) as f64;

/// A folder that was made for this process.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    description: Description,
    context: Option<String>,
    callstack_size: usize,
    clock: TraceClock,
}

impl Folder {
    /// Makes the folder if this process was started by `memtrail run`, and no other one of the session is
    /// recorded. The launcher hears what became of it.
    pub(super) fn requested() -> Option<Self> {
        let session = PathBuf::from(std::env::var_os(SESSION_VARIABLE)?);
        let options = Options::load(&session).ok()?;
        let program = std::env::current_exe().unwrap_or_default().display().to_string();
        let status = |image, state| Status {
            pid: std::process::id(),
            image,
            program: program.clone(),
            state,
        };
        let refused = |reason| State::Refused { reason, hint: None };
        // A status that cannot be written is one that nobody can read.
        let report = |status: Status| drop(status.save(&session));
        if options.memtrail != env!("CARGO_PKG_VERSION") {
            let reason = format!("has memtrail {} inside", env!("CARGO_PKG_VERSION"));
            report(status(0, refused(reason)));
            return None;
        }
        if !options.children && session::claim(&session, std::process::id()).is_err() {
            report(status(0, State::Passed));
            return None;
        }
        let name = Path::new(&program).file_name().unwrap_or_default().to_string_lossy();
        match options.make_folder(&name, std::process::id(), false) {
            Ok((path, image)) => {
                let folder = Self::new(path, &program, &options);
                let state = State::Recording { folder: folder.path.clone(), failure: None };
                folder.save();
                report(status(image, state));
                Some(folder)
            }
            Err((path, error)) => {
                let reason = format!("cannot make its folder {}: {error}", path.display());
                report(status(0, refused(reason)));
                None
            }
        }
    }

    fn new(path: PathBuf, program: &str, options: &Options) -> Self {
        let rate = match options.pace {
            Pace::Adaptive => options.rate.min(DEFAULT_RATE),
            Pace::Constant | Pace::Varying => options.rate,
        };
        let clock = TraceClock::new();
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into());
        let description = Description {
            format: FORMAT,
            memtrail: env!("CARGO_PKG_VERSION").into(),
            program: program.into(),
            arguments: arguments.collect(),
            pid: std::process::id(),
            forked_from: None,
            ancestors: Vec::new(),
            host: host.trim().into(),
            runtime: RecordedRuntime::native(64),
            sampling: Sampling {
                rate,
                seed: options.seed.unwrap_or(clock.start().start_monotonic_ns),
                callstacks: "unwinder".into(),
                callstack_depth: None,
                small_minor_heap: None,
                malloc_rate: None,
                impossible: None,
                checked: None,
            },
            clock: clock.start(),
            ended_unix_us: None,
            build_id: None,
            labels: options.labels.clone(),
            context: options.context.clone(),
            disk: None,
            shares_disk: false,
            attached: false,
            trace: TraceFile::growing(),
            snapshots: None,
            notes: Vec::new(),
            outcome: None,
        };
        let callstack_size = MAX_FRAMES.min(options.callstack_depth as usize);
        Self { path, description, context: options.context.clone(), callstack_size, clock }
    }

    /// Samples a word.
    pub(super) fn rate(&self) -> f64 {
        self.description.sampling.rate
    }

    pub(super) fn seed(&self) -> u64 {
        self.description.sampling.seed
    }

    pub(super) fn callstack_size(&self) -> usize {
        self.callstack_size
    }

    pub(super) fn clock(&self) -> TraceClock {
        self.clock
    }

    /// Makes the trace's file.
    pub(super) fn create_trace(&self) -> io::Result<File> {
        let path = self.path.join(TRACE_FILE);
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
    }

    pub(super) fn trace_info(&self) -> TraceInfo {
        TraceInfo {
            sample_rate: SampleRate(self.rate().min(1.0)),
            word_bits: 64,
            executable: self.description.program.clone(),
            host: self.description.host.clone(),
            runtime_params: String::new(),
            pid: self.description.pid.into(),
            start: Timestamp(self.description.clock.start_unix_us),
            context: self.context.clone(),
        }
    }

    /// Writes the description at the program's end, with the number of sampled blocks.
    pub(super) fn finish(&mut self, blocks: u64) {
        self.description.trace.blocks = blocks;
        self.description.trace.state = FileState::Complete;
        self.description.ended_unix_us = Some(self.clock.now().0);
        self.save();
    }

    fn save(&self) {
        // Without a description, the trace can be read all the same.
        drop(self.description.save(&self.path));
    }
}
