//! `memtrail view`: recordings as a page in the browser.

mod address;
mod browser;
mod family;
mod follow;
mod serving;
mod sources;

use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;

use memtrail_recording::Recording;
use memtrail_recording::family::Family;
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

pub(crate) use self::address::{check_filter, fragment};
pub(crate) use self::family::follow as follow_family;
pub(crate) use self::serving::{Serving, Shown};
pub(crate) use self::sources::Sources;
use crate::damage;
use crate::error::{Failure, Kind};
use crate::recording_facts;
use crate::recording_source::Process;
use crate::snapshot_file::MemoryArgs;
use crate::source::EditorOptions;

/// Show recordings in the browser
///
/// Opens a page that shows memory over time, by call path, function, module and file, with filters
/// for all properties of blocks. Several recordings can be compared. If the program still runs, the
/// page is updated as the recording grows.
///
/// The page is served on this machine only, at an address with a secret token, which is printed on
/// standard output. Ctrl-C ends it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail view server-4711.memtrail
  memtrail view server-4711.memtrail --filter live:end --filter in:Cache.load
  memtrail view before.memtrail after.memtrail    compare two recordings
  memtrail view server-4711.memtrail --source ~/server    with its source files
  ssh -L 8080:localhost:8080 devbox memtrail view --no-open --port 8080 server-4711.memtrail
        on another machine: open the printed address here

A filter is what the page shows as a condition, KEY:VALUES. Several must all hold; values of one are
alternatives, and -KEY:VALUES is its opposite:
  live:end  live:peak  live:40s  live:10s..20s    when blocks were live
  allocated:10%..90%  collected:..5s  lifetime:1s..  size:4KiB..    sizes count the header
  heap:major  died:never  domain:0  process:4711          of several processes
  in:List.map  in:~pars  in:/^Cache/  -in:Log.write       a function on the call path
  module:~Cache  file:cache.ml  by:Cache.load             by: the function that allocates")]
pub(crate) struct Args {
    /// Recordings (folders NAME.memtrail), trace files, ours or memtrace's, or heap snapshots. Of a folder of
    /// several processes (NAME.family), all together are shown, and each alone; those that begin later join them
    #[arg(value_name = "REC|TRACE|HEAP", required = true)]
    recordings: Vec<PathBuf>,

    #[command(flatten)]
    process: Process,

    /// Begin with this filter; may be given several times
    #[arg(long = "filter", value_name = "CONDITION", allow_hyphen_values = true)]
    filters: Vec<String>,

    #[command(flatten)]
    source: EditorOptions,

    #[command(flatten)]
    serving: Serving,

    #[command(flatten)]
    memory: MemoryArgs,

    /// Print the address as JSON, in one line; does not open a browser
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    check_filter(&args.filters)?;
    let (mut recordings, mut files, mut growing) = (Vec::new(), Vec::new(), Vec::new());
    // Of each family, where all processes together are, and where each alone.
    let mut families: Vec<Range<usize>> = Vec::new();
    for path in &args.recordings {
        if !args.process.is_named()
            && let Some(of) = Family::open(path)?
            && family::grows(&of)
        {
            growing.push(path);
            continue;
        }
        let (shown, held) = args.process.open(path)?.shown()?;
        families.push(recordings.len()..recordings.len() + shown.len());
        recordings.extend(shown);
        files.push(held);
    }
    let live = !growing.is_empty() || recordings.iter().any(recording_facts::grows);
    let sources = Sources::new(live, args.memory);
    args.source.give(&sources.engine)?;
    // Signals that come while recordings are read end the program as they always do.
    let mut code = ExitCode::SUCCESS;
    let mut ids = Vec::new();
    for recording in recordings {
        let (path, problem) = (recording.path.clone(), recording.problem.clone());
        let is_merged = recording.is_merged();
        let id = sources.add(recording)?;
        ids.push(id);
        let damage = sources.engine.damage(id).unwrap_or_default();
        let verdict = match problem {
            Some(problem) if is_merged => Err(Failure::new(Kind::Input, problem)),
            _ if is_merged => Ok(code),
            _ => damage::verdict(&Recording::open(&path)?, &damage),
        };
        if let Err(failure) = verdict {
            code = failure.report();
        }
    }
    for family in families {
        if let [whole, members @ ..] = &ids[family] {
            sources.engine.set_members(*whole, members);
        }
    }
    for path in growing {
        family::follow(&sources, path)?;
    }
    let no_signals =
        |error| Failure::new(Kind::Work, format_args!("cannot wait for signals: {error}"));
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(no_signals)?;
    let mut shown = args.serving.start(&sources, &args.filters)?;
    shown.announce(args.json)?;
    if !args.json {
        shown.open_browser();
    }
    signals.forever().next();
    Ok(code)
}
