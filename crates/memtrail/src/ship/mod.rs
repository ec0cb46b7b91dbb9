//! `memtrail ship`: sends time windows of growing recordings to a profile store.
//!
//! | file | subject |
//! |---|---|
//! | `address` | the destination |
//! | `secret` | credentials, and how they stay out of messages |
//! | `client` | one HTTP request, and the meaning of its answer |
//! | `labels` | labels of a recording's profiles |
//! | `follow` | a recording, read once, window after window |
//! | `state` | what was shipped, in a file of the recording |
//! | `backoff` | time between retries |
//! | `deliver` | windows of several recordings, in order, to one destination |
//! | `status` | `--status` |

mod address;
mod backoff;
mod client;
mod deliver;
mod follow;
mod labels;
mod secret;
mod state;
mod status;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use memtrail_recording::family::Family;
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::{Failure, Kind};
use address::Address;
use client::Client;
use deliver::Deliveries;

/// Send profiles of a running program to Pyroscope
///
/// Follows the recording and sends a profile of each time window: bytes and objects allocated in the window, and live at
/// its end. The program and its recording are not changed. The recording is the spool: a file in it keeps what was
/// shipped, so a window that could not be sent is sent later, also after a restart. Ends when the recording has ended.
///
/// Credentials come from --auth-file, or from the environment: `MEMTRAIL_SHIP_TOKEN` (bearer), or `MEMTRAIL_SHIP_USER` and
/// `MEMTRAIL_SHIP_PASSWORD` (basic). `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are respected.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail ship server-4711.memtrail --to http://localhost:4040
  memtrail ship recordings/ --every 30s --to https://profiles.example --auth-file token
  memtrail ship --status server-4711.memtrail")]
pub(crate) struct Args {
    /// A recording (NAME.memtrail), or a folder of recordings, to which more may come
    #[arg(value_name = "REC|DIR")]
    path: PathBuf,

    /// Address of Pyroscope: `http://HOST:PORT` or `https://HOST`
    #[arg(long, value_name = "URL", required_unless_present = "status")]
    to: Option<String>,

    /// Length of a time window
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = window_length)]
    every: Duration,

    /// Value of the label `service_name` [default: the label service.name of the recording, or the program's name]
    #[arg(long, value_name = "NAME")]
    service: Option<String>,

    /// Add a label to all profiles; may be given several times
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = labels::parse)]
    labels: Vec<(String, String)>,

    /// Ship the windows that are complete, and end; without retries
    #[arg(long)]
    once: bool,

    /// File with the credentials: a token, or USER:PASSWORD after the word `basic`
    #[arg(long, value_name = "FILE")]
    auth_file: Option<PathBuf>,

    /// Tenant (header `X-Scope-OrgID`)
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,

    /// Certificate authorities to trust, in PEM format [default: those of the system]
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// Longest pause between two retries
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = memtrail_text::duration)]
    retry_at_most: Duration,

    /// Print what was shipped and what waits, for each destination
    #[arg(long)]
    status: bool,

    /// With --status, print one JSON object
    #[arg(long, requires = "status")]
    json: bool,
}

/// Shortest window. Agents write twice a second, so the windows of a running program come in groups then.
const SHORTEST: Duration = Duration::from_millis(100);

fn window_length(text: &str) -> Result<Duration, String> {
    let length = memtrail_text::duration(text)?;
    if length < SHORTEST { Err("the shortest window is 100ms".to_owned()) } else { Ok(length) }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if args.status {
        return status::run(&args.path, args.json);
    }
    // Not by the parser of arguments, whose errors repeat what was given: it may have a password in it.
    let address = args.to.as_deref().unwrap_or_default().parse::<Address>();
    let address = &address.map_err(|error| {
        Failure::new(Kind::Usage, format_args!("--to: {error}")).hint("--to http://localhost:4040")
    })?;
    let credentials = secret::find(args.auth_file.as_deref())?;
    let client = Client::new(address, credentials, args.tenant.clone(), args.ca.as_deref())?;
    let mut deliveries = Deliveries::new(args, address, client);
    // A folder may be empty yet; a path that names nothing is a mistake.
    std::fs::metadata(&args.path).map_err(|error| {
        Failure::new(Kind::Input, format_args!("cannot open {}: {error}", args.path.display()))
            .hint("`memtrail run -- PROGRAM` makes a recording and prints its name")
    })?;
    let interrupted = wait_for_signals()?;
    let pause = (args.every / 12).clamp(Duration::from_millis(250), Duration::from_secs(5));
    let is_folder = is_folder_of_recordings(&args.path);
    message!("memtrail: shipping {} to {address}", args.path.display());
    loop {
        deliveries.find(&args.path, is_folder)?;
        let wait = deliveries.ship();
        let is_over = args.once || (!is_folder && deliveries.all_ended());
        if is_over || interrupted.recv_timeout(wait.unwrap_or(pause)).is_ok() {
            return deliveries.finish();
        }
    }
}

/// True for a folder that is no recording itself.
fn is_folder_of_recordings(path: &Path) -> bool {
    let is_empty = || std::fs::read_dir(path).is_ok_and(|mut files| files.next().is_none());
    path.is_dir() && (is_empty() || matches!(Family::open(path), Ok(Some(_))))
}

/// Gets a message when the user ends the command. A second signal ends it at once.
fn wait_for_signals() -> Result<mpsc::Receiver<()>, Failure> {
    let cannot = |error| Failure::new(Kind::Work, format_args!("cannot wait for signals: {error}"));
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(cannot)?;
    let (tell, told) = mpsc::channel();
    let waiting = move || {
        let mut signals = signals.forever();
        signals.next();
        let _ = tell.send(());
        if let Some(signal) = signals.next() {
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(waiting).map_err(cannot)?;
    Ok(told)
}
