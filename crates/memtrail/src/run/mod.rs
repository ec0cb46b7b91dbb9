//! `memtrail run`: runs a program as it is, recorded.

mod agent;
mod ending;
mod preflight;
mod process;
mod rate;
mod session;
mod snapshots;
mod tails;
mod viewing;
mod writing;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use memtrail_recording::session::{Options, SESSION_VARIABLE};

use crate::error::{Failure, Kind};
use crate::view::Serving;
use preflight::Decision;
use session::Session;
use viewing::{Tell, Viewing};

/// Run a program and record where its memory is allocated
///
/// The program runs as it is: not recompiled, not relinked. Its input, output, terminal, signals and
/// exit code are as without memtrail. The recording is a folder, `<program>-<pid>.memtrail/` in the
/// current one unless -o names another; it can be read while the program runs, and after a crash.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail run -- coqc theory.v
  memtrail run --rate 1e-3 -- ./server   ten times the detail, for short runs
  memtrail run --rate 512KiB -- ./server one sample per 512 KiB allocated, for weeks
  memtrail run --children -- make        every OCaml program that make starts
  memtrail run --view -- ./server        and watch its memory in the browser
  memtrail run --snapshot signal -- ./server
                                         and what keeps memory alive, at each kill -USR1

What a program pays: about a microsecond a sample. That is some 1 % of its time at the default rate,
more if it does little but allocate; --rate 1e-5 costs a tenth.")]
#[expect(clippy::struct_excessive_bools, reason = "one a switch of the command line")]
pub(crate) struct Args {
    /// Samples per word allocated, or the distance between samples: 1e-4, 512KiB,
    /// "one sample per 512 KiB"
    #[arg(long, default_value = "1e-4", value_parser = rate::parse)]
    rate: f64,

    /// The recording's folder; it must not exist yet (with --children: the folder to put
    /// recordings in)
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Record forked children and programs started by the program too, each in its own folder
    #[arg(long)]
    children: bool,

    /// Choose the sampler's random numbers, to sample the same program in the same places again
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// A note kept in the recording, such as the version or the scenario
    #[arg(long, value_name = "TEXT")]
    context: Option<String>,

    #[command(flatten)]
    snapshots: snapshots::Args,

    /// Show the recording in the browser while the program runs. On a terminal the page stays
    /// after the program's end, until Ctrl-C; its exit code comes then. Elsewhere it ends with it
    #[arg(long)]
    view: bool,

    #[command(flatten)]
    serving: Serving,

    /// Say nothing about the recording
    #[arg(short, long)]
    quiet: bool,

    /// Print what was recorded as JSON on stderr instead of a sentence
    #[arg(long)]
    json: bool,

    /// Let the runtime capture callstacks itself: slower, the same result
    #[arg(long, hide = true)]
    runtime_callstacks: bool,

    /// Check every callstack by a second walk; the recording says how many differed
    #[arg(long, hide = true)]
    check_callstacks: bool,

    /// The program and its arguments
    #[arg(trailing_var_arg = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let (program, arguments) = args.command.split_first().expect("clap requires one");
    let mut command = Command::new(program);
    command.args(arguments);

    if let Decision::RunAsItIs { reason, hint } = preflight::look(program) {
        if !args.quiet {
            eprintln!("memtrail: not recording {}: {reason}", Path::new(program).display());
            if let Some(hint) = hint {
                eprintln!("hint: {hint}");
            }
        }
        return Err(cannot_start(program, &process::become_program(command)));
    }

    if !args.view && args.serving.is_asked_for() {
        return Err(Failure::new(Kind::Usage, "there is no page to serve without --view")
            .hint("memtrail run --view -- PROGRAM"));
    }
    let options = resolve(args)?;
    let launch = |what: &str, error: &dyn std::fmt::Display| {
        Failure::new(Kind::Launch, format_args!("cannot {what}: {error}"))
    };
    let library = agent::unpacked().map_err(|e| {
        launch("unpack the agent", &e).hint("XDG_CACHE_HOME names a folder it can be kept in")
    })?;
    let session = Session::create(&options).map_err(|e| launch("make a session folder", &e))?;

    let preload_before = std::env::var_os("LD_PRELOAD");
    let mut preload = library.into_os_string();
    if let Some(before) = preload_before.filter(|b| !b.is_empty()) {
        preload.push(":");
        preload.push(&before);
        command.env("MEMTRAIL_LD_PRELOAD", before);
    }
    command.env("LD_PRELOAD", preload).env(SESSION_VARIABLE, session.folder());

    let mut pid = 0;
    let mut viewing = None;
    let end = process::run(command, |child| {
        pid = child;
        viewing = args.view.then(|| Viewing::begin(session.folder(), &args.serving, tell(args)));
    })
    .map_err(|error| cannot_start(program, &error))?;
    let recorded = ending::settle(&session, pid, end);
    if !args.quiet {
        ending::announce(&recorded, &args.command, args.children, args.json);
    }
    if let Some(viewing) = viewing {
        viewing.end();
    }
    drop(session);
    match end {
        process::End::Exited(code) => Ok(ExitCode::from(code as u8)),
        process::End::Killed(signal) => process::die_of(signal),
    }
}

fn tell(args: &Args) -> Tell {
    match (args.quiet, args.json) {
        (true, _) => Tell::Nothing,
        (false, true) => Tell::Json,
        (false, false) => Tell::Sentence,
    }
}

fn resolve(args: &Args) -> Result<Options, Failure> {
    let base = std::env::current_dir().map_err(|error| {
        Failure::new(Kind::Launch, format_args!("cannot tell the current folder: {error}"))
    })?;
    let output = args.output.as_deref().map(|o| base.join(o));
    let (base, output) = match output {
        Some(folder) if args.children => {
            std::fs::create_dir_all(&folder).map_err(|error| cannot_make(&folder, &error))?;
            (folder, None)
        }
        Some(folder) => {
            if folder.exists() {
                let message = format_args!("{} exists already", folder.display());
                return Err(Failure::new(Kind::Usage, message)
                    .hint("a recording is never overwritten; name a new folder or remove it"));
            }
            if let Some(parent) = folder.parent() {
                std::fs::create_dir_all(parent).map_err(|error| cannot_make(parent, &error))?;
            }
            (base, Some(folder))
        }
        None => (base, None),
    };
    Ok(Options {
        memtrail: env!("CARGO_PKG_VERSION").into(),
        rate: args.rate,
        output,
        base,
        children: args.children,
        runtime_callstacks: args.runtime_callstacks,
        check_callstacks: args.check_callstacks,
        seed: args.seed,
        context: args.context.clone(),
        snapshots: args.snapshots.resolve(),
    })
}

fn cannot_make(folder: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Kind::Launch, format_args!("cannot make {}: {error}", folder.display()))
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
