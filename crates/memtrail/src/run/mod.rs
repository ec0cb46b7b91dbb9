//! `memtrail run`: runs a program as it is, recorded.

mod agent;
#[cfg(target_arch = "x86_64")]
pub(crate) mod attached;
mod cached;
mod disk;
mod ending;
mod environment;
mod family_folder;
mod group_signals;
mod images;
mod in_use;
mod keeper;
pub(crate) mod labels;
mod live_packets;
mod native;
mod native_names;
mod old_agents;
mod old_sessions;
mod preflight;
mod process;
mod rate;
mod record;
mod relay;
mod sampler;
mod session;
mod signals;
mod snapshots;
mod stops;
mod survivors;
mod viewing;
mod writing;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use memtrail_ocaml::Version;
use memtrail_recording::family_name;
use memtrail_recording::session::{CALLSTACK_DEPTH, Options, Pace};

use crate::error::{Failure, Kind};
use crate::view::Serving;
pub(crate) use cached::{Cached, cached};
pub(crate) use disk::Disk;
use family_folder::FamilyFolder;
pub(crate) use group_signals::{Args as GroupArgs, run as watch_group};
pub(crate) use keeper::{Args as KeeperArgs, run as keep_session};
pub(crate) use native::{Args as NativeArgs, Native};
pub(crate) use old_sessions::launcher_of;
use preflight::Decision;
pub(crate) use preflight::find;
pub(crate) use process::{End, address_space, has_stack, user_id};
pub(crate) use rate::parse as parse_rate;
pub(crate) use record::{Request, record};
use session::Session;
pub(crate) use signals::{block as block_signals, unblock as unblock_signals};
pub(crate) use snapshots::Args as SnapshotArgs;
pub(crate) use stops::{Args as WakeArgs, run as wake_up};
use viewing::{Announcement, Viewing};

/// What is left of a callstack that is too deep must not be deeper than the limit.
pub(crate) const SHORTEST: i64 = memtrail_trace::omitted::MAX_FRAMES_LEFT as i64;
/// As many frames fit a packet of the trace, even if none of them can be predicted.
pub(crate) const DEEPEST: i64 = 12 << 10;
/// Samples per word where the user does not say; the agent lowers it where they would cost too much.
pub(crate) const BASE_RATE: f64 = 1e-4;

/// Run a program and record where its memory is allocated
///
/// The program is not recompiled or relinked. Its input, output, terminal, signals and exit code are as
/// without memtrail. The recording is a folder, `<program>-<pid>.memtrail/` in the current folder
/// unless -o names another. It can be read while the program runs, and after a crash.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail run -- coqc theory.v
  memtrail run --rate 1e-3 -- ./server   ten times the detail, for short runs
  memtrail run --rate 512KiB -- ./server one sample per 512 KiB allocated, for weeks
  memtrail run --children -- make        every OCaml program that make starts
  memtrail run --native -- ./program     a program in C, C++ or Rust
  memtrail run --native=also -- ./server an OCaml program with its memory from malloc
  memtrail run --view -- ./server        show its memory in the browser
  memtrail run --snapshot signal -- ./server
                                         and what retains memory, at each kill -USR1

Cost: about 1 % of the program's CPU time, or of a tenth of a processor if it takes less. The rate starts
at 1e-4 and is lowered while samples would cost more; estimates stay unbiased, and reports show the rate.
With --rate it is constant, and each sample costs 1 to 2 microseconds.

Figures of the collector that a program prints (Gc.stat, Gc.quick_stat) may differ: a sample takes some
words of the minor heap, and sometimes ends it early. At the default rate minor_words differs by less
than one part in a thousand.

The exit code is the program's; 126 and 127 if it cannot be executed or does not exist. A program that
cannot be recorded runs unrecorded, and a line shows the reason; with --require-recording that is an
error with code 125. `kill -9` of memtrail run leaves the program running, see --kill-with-parent.")]
#[expect(clippy::struct_excessive_bools, reason = "one a switch of the command line")]
pub(crate) struct Args {
    /// Samples per word allocated, or the distance between samples: 1e-4, 512KiB,
    /// "one sample per 512 KiB". The rate then stays the same [default: 1e-4, adapted]
    #[arg(long, value_parser = rate::parse)]
    rate: Option<f64>,

    /// Change the rate at random, all the time: for tests
    #[arg(long, hide = true)]
    vary_rate: bool,

    /// Adapt the rate by declining samples, as where OCaml 4's sampler is not as expected
    #[arg(long, hide = true)]
    decline_samples: bool,

    /// Sampler of OCaml 5.3 and later: `runtime`, its own, which gives way when the program starts Gc.Memprof
    /// itself, or `memtrail`, which leaves Gc.Memprof to the program. OCaml 4 has the first only, 5.0 to 5.2
    /// the second
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        default_value = "runtime",
        hide_possible_values = true
    )]
    sampler: sampler::Choice,

    /// Record a program of an OCaml newer than memtrail knows as if its runtime were this version's, at your own risk:
    /// the program may crash, and figures may be wrong
    #[arg(long, value_name = "VERSION", value_parser = assumed_version)]
    assume_version: Option<String>,

    /// The recording's folder; it must not exist yet (with --children: the folder to put
    /// recordings in, instead of `<program>-<pid>.family/`). If the process becomes other programs
    /// (`exec`), it is of the last one with samples, and recordings of the others are inside
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Record forked children and programs started by the program, too, each as a recording of its own in
    /// one folder, which report, view, leaks and export take as a whole
    #[arg(long)]
    children: bool,

    #[command(flatten)]
    native: native::Args,

    /// Choose the sampler's random numbers, to sample the same program in the same places again
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Maximum number of frames of callstacks that are recorded completely; of deeper ones, the outermost
    /// 64 and at least the innermost 256 frames are recorded, and the number of frames between them
    #[arg(long, value_name = "FRAMES", default_value_t = CALLSTACK_DEPTH,
          value_parser = clap::value_parser!(u32).range(SHORTEST..=DEEPEST))]
    callstack_depth: u32,

    /// A note kept in the recording, such as the version or the scenario
    #[arg(long, value_name = "TEXT")]
    context: Option<String>,

    /// A label kept in recording.json, such as service.name=shop. May be given several times
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = labels::parse)]
    labels: Vec<(String, String)>,

    /// Disk space for all files of the recording, such as 1GiB, or unlimited; with --children, of all recordings
    /// together. When it fills up, samples of blocks that died long ago are thinned at random: estimates stay
    /// unbiased, the oldest get the largest errors [default: 1GiB; unlimited with --rate]
    #[arg(long, value_name = "SIZE", value_parser = Disk::parse)]
    disk: Option<Disk>,

    #[command(flatten)]
    snapshots: snapshots::Args,

    /// Show the recording in the browser while the program runs. On a terminal the page stays
    /// after the program's end, until Ctrl-C; its exit code comes then. Elsewhere it ends with it
    #[arg(long)]
    view: bool,

    #[command(flatten)]
    serving: Serving,

    /// End with code 125 if the program cannot be recorded: without running it if that is known before,
    /// after it otherwise
    #[arg(long)]
    require_recording: bool,

    /// Kill the program (SIGKILL) when `memtrail run` itself is killed; otherwise it continues, recorded as
    /// far as possible. A program that changes its user is not killed
    #[arg(long)]
    kill_with_parent: bool,

    /// Print nothing about the recording
    #[arg(short, long)]
    quiet: bool,

    /// Print what was recorded as JSON on stderr instead of a sentence
    #[arg(long)]
    json: bool,

    /// Let the runtime capture callstacks itself: slower, the same result
    #[arg(long, hide = true)]
    runtime_callstacks: bool,

    /// Check every callstack by a second walk; the recording has the number that differed
    #[arg(long, hide = true)]
    check_callstacks: bool,

    /// The program and its arguments
    #[arg(trailing_var_arg = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

fn assumed_version(text: &str) -> Result<String, String> {
    let known = Version::named(text).map(|version| version.name().to_owned());
    known.ok_or_else(|| format!("no known version of OCaml; the newest is {}", Version::NEWEST))
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    signals::survive_file_limits();
    if !args.view && args.serving.is_asked_for() {
        return Err(Failure::new(Kind::Usage, "there is no page to serve without --view")
            .hint("memtrail run --view -- PROGRAM"));
    }
    args.native.check(&args.snapshots)?;
    if let Decision::Unrecorded { reason, hint } =
        preflight::look(args.program(), args.native.which(), args.assume_version.is_some())
    {
        return Err(unrecorded(args, &Unprepared { reason, hint }));
    }
    match prepare(args) {
        Ok(Ok(prepared)) => recorded(args, prepared),
        Ok(Err(unprepared)) => Err(unrecorded(args, &unprepared)),
        Err(wrong) => Err(wrong),
    }
}

/// Why a program cannot be recorded, before it is started.
pub(crate) struct Unprepared {
    pub(crate) reason: String,
    pub(crate) hint: Option<String>,
}

impl Unprepared {
    fn new(what: &str, error: &dyn std::fmt::Display) -> Self {
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

/// What a recorded program is started with.
struct Prepared {
    session: Session,
    family: Option<FamilyFolder>,
    relay: Option<relay::Service>,
    /// Thins traces, if the disk space is limited.
    disk: Option<disk::Keeper>,
    library: PathBuf,
}

/// Gets everything ready. The outer error is one of the command line.
fn prepare(args: &Args) -> Result<Result<Prepared, Unprepared>, Failure> {
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

/// Becomes the program as it is; returns only if that fails, or is not wanted.
fn unrecorded(args: &Args, why: &Unprepared) -> Failure {
    let name = Path::new(args.program()).display();
    let Unprepared { reason, hint } = why;
    if args.require_recording {
        let failure = Failure::new(
            Kind::Launch,
            format_args!("{name} cannot be recorded, and is not run: {reason}"),
        );
        return match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        };
    }
    if !args.quiet {
        message!("memtrail: not recording {name}: {reason}");
        if let Some(hint) = hint {
            message!("hint: {hint}");
        }
    }
    cannot_start(args.program(), &process::become_program(args.plain_command()))
}

fn recorded(args: &Args, prepared: Prepared) -> Result<ExitCode, Failure> {
    let (recorded, end) = watch(args, prepared)?;
    if args.require_recording && recorded.is_empty() {
        let name = Path::new(args.program()).display();
        return Err(Failure::new(Kind::Launch, format_args!("{name} was run, and not recorded")));
    }
    match end {
        process::End::Exited(code) => Ok(ExitCode::from(code as u8)),
        process::End::Killed(signal) => process::die_of(signal),
    }
}

/// Runs the program to its end, and completes its recordings.
fn watch(args: &Args, prepared: Prepared) -> Result<(ending::Finalized, process::End), Failure> {
    let Prepared { session, family, mut relay, disk, library } = prepared;
    let mut command = args.plain_command();
    environment::inject(&mut command, &library, session.folder());

    let mut pid = 0;
    let mut viewing = None;
    let started = process::run(command, args.kill_with_parent, |child| {
        pid = child;
        let family = family.as_ref().map(FamilyFolder::path);
        viewing = args
            .view
            .then(|| Viewing::begin(session.folder(), family, &args.serving, announcement(args)));
    });
    let end = match started {
        Ok(end) => end,
        Err(error) if process::is_ours(&error) => {
            // The program itself needs less than we do to watch it.
            drop((disk, relay, session, family));
            return Err(unrecorded(args, &Unprepared::new("start it under watch", &error)));
        }
        Err(error) => return Err(cannot_start(args.program(), &error)),
    };
    drop(disk);
    let mut recorded = ending::finalize(&session, pid, end);
    let kept = keeper::take_over(session.folder(), relay.as_mut());
    if !kept && recorded.has_alive() {
        // It ended between the two looks: nobody else completes its recording.
        recorded = ending::finalize(&session, pid, end);
    }
    if let Some(relay) = relay {
        relay.end(!kept);
    }
    // The page reads the recordings by their names until it ends.
    let gathered = if viewing.is_none() { gather(args, &session, &mut recorded) } else { None };
    if !args.quiet {
        let family = family.as_ref().map(FamilyFolder::path);
        ending::announce(
            &recorded,
            &args.command,
            family,
            args.native.which() == Native::Only,
            args.json,
        );
    }
    let gathered = match viewing {
        Some(viewing) => {
            viewing.end();
            gather(args, &session, &mut recorded)
        }
        None => gathered,
    };
    if let Some(gathered) = gathered.filter(|_| !args.quiet && !args.json) {
        message!("memtrail: {}", gathered.text());
    }
    signals::unblock();
    if kept {
        session.leave();
        // What runs on may begin a recording.
        std::mem::forget(family);
    } else {
        drop((session, family));
    }
    Ok((recorded, end))
}

/// Puts the recordings of a process that was several programs into the one folder that `-o` names.
fn gather(
    args: &Args,
    session: &Session,
    recorded: &mut ending::Finalized,
) -> Option<images::Gathered> {
    let named = args.output.as_deref().filter(|_| !args.children)?;
    // The agents were told the same path.
    let named =
        std::env::current_dir().map_or_else(|_| named.to_path_buf(), |here| here.join(named));
    images::gather(recorded, session.folder(), &named).unwrap_or_else(|error| {
        if !args.quiet {
            message!("memtrail: recordings of one process stay apart: {error}");
        }
        None
    })
}

impl Args {
    fn program(&self) -> &OsString {
        self.command.first().expect("clap requires one")
    }

    /// The name of the folder of its family.
    fn family_name(&self) -> String {
        let program = Path::new(self.program()).file_name().unwrap_or(self.program());
        family_name(&program.to_string_lossy(), std::process::id())
    }

    /// The program with its arguments, as it is.
    fn plain_command(&self) -> Command {
        let mut command = Command::new(self.program());
        command.args(self.command.iter().skip(1));
        command
    }
}

fn announcement(args: &Args) -> Announcement {
    match (args.quiet, args.json) {
        (true, _) => Announcement::Nothing,
        (false, true) => Announcement::Json,
        (false, false) => Announcement::Text,
    }
}

/// What agents are told, and the folder of the recordings of `--children`. The outer error is one of the
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
        disk: Disk::bytes(args.disk, args.rate),
        malloc: args.native.which() == Native::Also,
        mappings: args.native.records_mappings(),
        snapshots: args.snapshots.resolve(),
    };
    Ok(Ok((options, family)))
}

fn cannot_start(program: &OsString, error: &std::io::Error) -> Failure {
    let name = Path::new(program).display();
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            Failure::new(Kind::NotFound, format_args!("{name}: no such program"))
        }
        std::io::ErrorKind::PermissionDenied => {
            Failure::new(Kind::NotExecutable, format_args!("{name}: cannot be executed: {error}"))
        }
        _ => Failure::new(Kind::NotExecutable, format_args!("{name}: {error}")),
    }
}
