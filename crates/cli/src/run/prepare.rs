//! Gets everything ready that a recorded program is started with.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use memtrail_recording::session::{Options, Pace};

use super::args::{Args, BASE_RATE};
use super::disk::{self, Disk};
use super::family_folder::FamilyFolder;
use super::native::Native;
use super::preflight::{self, Decision};
use super::session::Session;
use super::{agent, relay, signals};
use crate::error::{Failure, Kind};

/// Why a program cannot be recorded, before it is started.
pub(crate) struct Unprepared {
    pub(crate) reason: String,
    pub(crate) hint: Option<String>,
}

impl Unprepared {
    pub(super) fn new(what: &str, error: &dyn std::fmt::Display) -> Self {
        Self { reason: format!("cannot {what}: {error}"), hint: None }
    }
}

/// Checks what `run` checks before it starts a program.
pub(crate) fn check(program: &OsStr, native: Native) -> Result<(), Unprepared> {
    match preflight::look(program, native, false) {
        Decision::Unrecorded { reason, hint } => Err(Unprepared { reason, hint }),
        Decision::Record => unpack(native).map(|_| ()),
    }
}

/// Checks what `run` needs for any program.
pub(crate) fn check_machine(native: Native) -> Result<(), Unprepared> {
    match preflight::look_at_limits() {
        Some(Decision::Unrecorded { reason, hint }) => Err(Unprepared { reason, hint }),
        _ => unpack(native).map(|_| ()),
    }
}

/// The agent's library, in a folder from which it can be loaded.
fn unpack(native: Native) -> Result<PathBuf, Unprepared> {
    agent::unpacked(agent::for_memory(native)).map_err(|error| {
        let hint = "XDG_CACHE_HOME names a folder it can be kept in, and be loaded from";
        Unprepared { hint: Some(hint.into()), ..Unprepared::new("unpack the agent", &error) }
    })
}

/// Session, threads and library that a recorded program is started with.
pub(super) struct Prepared {
    pub(super) session: Session,
    pub(super) family: Option<FamilyFolder>,
    pub(super) relay: Option<relay::Service>,
    /// Thins traces, if the disk space is limited.
    pub(super) disk: Option<disk::Keeper>,
    pub(super) library: PathBuf,
}

/// Gets everything ready. The outer error is one of the command line.
pub(super) fn prepare(args: &Args) -> Result<Result<Prepared, Unprepared>, Failure> {
    let (options, family) = match resolve(args)? {
        Ok(resolved) => resolved,
        Err(unprepared) => return Ok(Err(unprepared)),
    };
    let library = match unpack(args.native.which()) {
        Ok(library) => library,
        Err(unprepared) => return Ok(Err(unprepared)),
    };
    let session = match Session::create(&options) {
        Ok(session) => session,
        Err(error) => return Ok(Err(Unprepared::new("make a session folder", &error))),
    };
    // Without it, a program that gives up its privileges has no snapshots: that is said then.
    signals::block();
    let relay = relay::Service::start(session.folder(), &options).ok();
    let disk = disk::Keeper::start(session.folder(), &options);
    signals::unblock();
    let disk = match disk {
        Ok(disk) => disk,
        Err(error) => return Ok(Err(Unprepared::new("start a thread", &error))),
    };
    Ok(Ok(Prepared { session, family, relay, disk, library }))
}

/// Options of the agents, and the folder of the recordings of `--children`. The outer error is one of the
/// command line.
fn resolve(args: &Args) -> Result<Result<(Options, Option<FamilyFolder>), Unprepared>, Failure> {
    let here = match std::env::current_dir() {
        Ok(here) => here,
        // Nothing is relative to it.
        Err(_) if args.output.as_deref().is_some_and(Path::is_absolute) => PathBuf::from("/"),
        Err(error) => return Ok(Err(Unprepared::new("tell the current folder", &error))),
    };
    let output = args.output.as_deref().map(|o| here.join(o));
    let cannot_make = |folder: &Path, error: &std::io::Error| {
        Unprepared::new(&format!("make {}", folder.display()), error)
    };
    let mut family = None;
    let (base, output) = match output {
        named if args.children => {
            let is_named = named.is_some();
            let folder = named.unwrap_or_else(|| here.join(args.family_name()));
            match FamilyFolder::make(&folder, is_named) {
                Ok(made) => family = Some(made),
                Err(error) => return Ok(Err(cannot_make(&folder, &error))),
            }
            (folder, None)
        }
        Some(folder) => {
            if folder.exists() {
                let name = folder.display();
                return Err(Failure::new(Kind::Usage, format_args!("{name} exists already"))
                    .hint("a recording is never overwritten; name a new folder or remove it"));
            }
            if let Some(parent) = folder.parent()
                && let Err(error) = std::fs::create_dir_all(parent)
            {
                return Ok(Err(cannot_make(parent, &error)));
            }
            (here, Some(folder))
        }
        None => (here, None),
    };
    let folder = output.as_deref().and_then(Path::parent).unwrap_or(&base);
    let (disk, note) = disk::within_room(Disk::bytes(args.disk, args.rate), folder);
    let options = Options {
        memtrail: env!("CARGO_PKG_VERSION").into(),
        rate: args.rate.unwrap_or(BASE_RATE),
        pace: match (args.vary_rate, args.rate) {
            (true, _) => Pace::Varying,
            (false, Some(_)) => Pace::Constant,
            (false, None) => Pace::Adaptive,
        },
        decline_samples: args.decline_samples,
        assume_version: args.assume_version.clone(),
        sampler: args.sampler.into(),
        output,
        base,
        children: args.children,
        attached: false,
        launcher: std::process::id(),
        runtime_callstacks: args.runtime_callstacks,
        check_callstacks: args.check_callstacks,
        callstack_depth: args.callstack_depth,
        seed: args.seed,
        context: args.context.clone(),
        labels: args.labels.iter().cloned().collect(),
        disk,
        notes: note.filter(|_| args.disk.is_some()).into_iter().collect(),
        malloc: args.native.which() == Native::Also,
        mappings: args.native.records_mappings(),
        snapshots: args.snapshots.resolve(),
    };
    Ok(Ok((options, family)))
}
