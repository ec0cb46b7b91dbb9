//! Records a program for another command, which then looks at the recording.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use memtrail_recording::session::CALLSTACK_DEPTH;

use super::args::Args;
use super::disk::Disk;
use super::launch::{unrecorded, watch};
use super::native::{Args as NativeArgs, Native};
use super::preflight::{self, Decision};
use super::prepare::{Unprepared, prepare};
use super::process::End;
use super::snapshots::Args as SnapshotArgs;
use super::{sampler, signals};
use crate::error::{Failure, Kind};
use crate::view::Serving;

/// What to run, and how to record it.
pub(crate) struct Request {
    /// The program and its arguments.
    pub(crate) command: Vec<OsString>,
    /// The recording's folder.
    pub(crate) output: Option<PathBuf>,
    /// Samples per word; adapted if not given.
    pub(crate) rate: Option<f64>,
    /// Whether to record its children, too.
    pub(crate) children: bool,
    /// Whether its calls of `malloc` are recorded.
    pub(crate) native: NativeArgs,
    /// The sampler's random numbers.
    pub(crate) seed: Option<u64>,
    /// When to take heap snapshots …
    pub(crate) snapshots: SnapshotArgs,
    /// … and whether to take one at the end.
    pub(crate) at_exit: bool,
}

/// A program that came to its end.
pub(crate) struct Recorded {
    /// The recordings' folders, that of the program first.
    pub(crate) folders: Vec<PathBuf>,
    /// The folder that they are in, with children.
    pub(crate) family: Option<PathBuf>,
    /// How it ended.
    pub(crate) end: End,
}

/// Runs a program, recorded. One that cannot be recorded is not run. Nothing is printed.
pub(crate) fn record(request: Request) -> Result<Recorded, Failure> {
    let Request { command, output, rate, children, native, seed, snapshots, at_exit } = request;
    let takes_last = at_exit && native.which() != Native::Only;
    let snapshots = if takes_last { snapshots.with_exit() } else { snapshots };
    let args = Args {
        rate,
        vary_rate: false,
        decline_samples: false,
        sampler: sampler::Choice::Memprof,
        assume_version: None,
        output,
        children,
        native,
        seed,
        callstack_depth: CALLSTACK_DEPTH,
        context: None,
        labels: Vec::new(),
        disk: Some(Disk::Unlimited),
        snapshots,
        view: false,
        serving: Serving::default(),
        require_recording: true,
        kill_with_parent: false,
        quiet: true,
        json: false,
        runtime_callstacks: false,
        check_callstacks: false,
        command,
    };
    signals::survive_file_limits();
    if let Decision::Unrecorded { reason, hint } =
        preflight::look(args.program(), args.native.which(), false)
    {
        return Err(unrecorded(&args, &Unprepared { reason, hint }));
    }
    let prepared = prepare(&args)?.map_err(|unprepared| unrecorded(&args, &unprepared))?;
    let family = prepared.family.as_ref().map(|family| family.path().to_path_buf());
    let (recorded, end) = watch(&args, prepared)?;
    Ok(Recorded { folders: recorded.folders(), family, end })
}

impl Recorded {
    /// Removes the recordings, and the folder that they are in if nothing else is.
    pub(crate) fn remove(&self) -> Result<(), Failure> {
        for folder in &self.folders {
            fs::remove_dir_all(folder).map_err(|error| {
                let folder = folder.display();
                Failure::new(Kind::Work, format_args!("cannot remove {folder}: {error}"))
            })?;
        }
        if let Some(family) = &self.family {
            // Another's file may be there.
            let _ = fs::remove_dir(family);
        }
        Ok(())
    }
}
