//! `memtrail ship`: sends time windows of growing recordings to a profile store.
//!
//! | file | subject |
//! |---|---|
//! | `address` | the address of a server |
//! | `secret` | credentials, and how they stay out of messages |
//! | `client` | one HTTP request, and the meaning of its answer |
//! | `protocol`, `otlp` | a window as a request |
//! | `labels` | labels of a recording's profiles and metrics |
//! | `redact` | pseudonyms in place of names |
//! | `tail` | a trace that is read on |
//! | `follow` | a recording, read once, window after window |
//! | `state` | what was shipped, in a file of the recording |
//! | `backoff` | time between retries |
//! | `shipping` | a way to ship; `deliver` to a server, `lake` into a folder of Parquet |
//! | `metrics` | figures for Prometheus |
//! | `status` | `--status` |

mod address;
mod backoff;
mod client;
mod deliver;
mod follow;
mod labels;
mod lake;
mod metrics;
mod otlp;
mod protocol;
mod redact;
mod secret;
mod shipping;
mod state;
mod status;
mod tail;
mod taken;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use memtrail_recording::family::Family;
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::{Failure, Kind};
use crate::limit::Limit;
use address::Address;
use client::Client;
use deliver::Deliveries;
use labels::Given;
use lake::IntoLake;
use metrics::{Metrics, Target, Wanted};
use protocol::Protocol;
use redact::Redaction;
use shipping::Shipping;

/// Send profiles of a running program to Pyroscope, and metrics to Prometheus
///
/// Follows the recording and sends a profile of each time window: bytes and objects allocated in the window, and live at
/// its end. The program and its recording are not changed. The recording is the spool: a file in it keeps what was
/// shipped, so a window that could not be sent is sent later, also after a restart. Ends when the recording has ended.
///
/// --metrics publishes live memory by owner and by function, parts of resident memory, and leak suspects. It needs no --to.
///
/// Credentials come from --auth-file, or from the environment: `MEMTRAIL_SHIP_TOKEN` (bearer), or `MEMTRAIL_SHIP_USER` and
/// `MEMTRAIL_SHIP_PASSWORD` (basic). `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are respected.
#[allow(clippy::struct_excessive_bools, reason = "flags of the command line")]
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail ship server-4711.memtrail --to http://localhost:4040
  memtrail ship recordings/ --every 30s --to https://profiles.example --auth-file token
  memtrail ship recordings/ --metrics /var/lib/prometheus/node-exporter/memtrail.prom
  memtrail ship recordings/ --every 10m --to dir:lake
  memtrail ship --status server-4711.memtrail")]
pub(crate) struct Args {
    /// A recording (NAME.memtrail), or a folder of recordings, to which more may come
    #[arg(value_name = "REC|DIR")]
    path: PathBuf,

    /// Address of Pyroscope (`http://HOST:PORT` or `https://HOST`), or a folder of Parquet (`dir:LAKE`)
    ///
    /// Recordings are exported into a lake whole, as `memtrail export --format parquet` does. A recording is exported again
    /// when it has grown by a tenth, has a new snapshot, or has ended, but not more often than --every.
    #[arg(long, value_name = "URL|dir:LAKE", required_unless_present_any = ["status", "metrics"])]
    to: Option<String>,

    /// Interface of the server
    #[arg(long, value_enum, default_value_t = Protocol::Push)]
    protocol: Protocol,

    /// Send OpenTelemetry's profiles (OTLP over HTTP), whose protocol is still in development, in place of --protocol
    #[arg(long)]
    experimental_otlp: bool,

    /// Publish metrics for Prometheus: a file of the textfile collector (NAME.prom), or a Unix socket that answers
    /// GET /metrics
    #[arg(long, value_name = "FILE|unix:PATH")]
    metrics: Option<Target>,

    /// Owners, functions and suspects in metrics; 0 for all
    #[arg(long, value_name = "N", default_value = "10")]
    top: Limit,

    /// Length of a time window
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = window_length)]
    every: Duration,

    /// Value of the label `service_name` [default: the label service.name of the recording, or the program's name]
    #[arg(long, value_name = "NAME")]
    service: Option<String>,

    /// Add a label to all profiles; may be given several times
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = labels::parse)]
    labels: Vec<(String, String)>,

    /// Replace names of the program by pseudonyms, and leave out host, process id, paths and the recording's labels
    ///
    /// Pseudonyms are hashes with a secret key, which is made once: the file ship.key in the folder of recordings, or
    /// beside the recording; LAKE.key for a lake. Whoever has the key can find names by guessing.
    #[arg(long)]
    redact: bool,

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

/// Beginning of a destination that is a lake.
const LAKE: &str = "dir:";
/// Shortest window. Agents write twice a second, so the windows of a running program come in groups then.
const SHORTEST: Duration = Duration::from_millis(100);

fn window_length(text: &str) -> Result<Duration, String> {
    let length = memtrail_text::duration(text)?;
    if length < SHORTEST { Err("the shortest window is 100ms".to_owned()) } else { Ok(length) }
}

impl Args {
    fn protocol(&self) -> Protocol {
        if self.experimental_otlp { Protocol::Otlp } else { self.protocol }
    }

    /// Labels that the user gave.
    fn given<'a>(&'a self, redaction: Option<&'a Redaction>) -> Given<'a> {
        Given { service: self.service.as_deref(), more: &self.labels, redaction }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if args.status {
        return status::run(&args.path, args.json);
    }
    // A folder may be empty yet; a path that names nothing is a mistake.
    std::fs::metadata(&args.path).map_err(|error| {
        Failure::new(Kind::Input, format_args!("cannot open {}: {error}", args.path.display()))
            .hint("`memtrail run -- PROGRAM` makes a recording and prints its name")
    })?;
    let is_folder = is_folder_of_recordings(&args.path);
    let redaction = || Redaction::new(&args.path, is_folder);
    // A lake has a key of its own.
    let into_lake = args.to.as_ref().is_some_and(|to| to.starts_with(LAKE));
    let needs_key = args.redact && (args.metrics.is_some() || !into_lake);
    let redaction = needs_key.then(redaction).transpose()?;
    let shipping = args.to.as_deref().map(|to| shipping(args, to, redaction.as_ref()));
    let mut shipping = shipping.transpose()?;
    let wanted = Wanted { top: args.top.0, is_once: args.once, is_folder };
    let open = |target| Metrics::open(target, args.every, wanted);
    let mut metrics = args.metrics.as_ref().map(open).transpose()?;
    let interrupted = wait_for_signals()?;
    let mut pause = (args.every / 6).clamp(Duration::from_millis(250), Duration::from_secs(5));
    if let (Some(metrics), None) = (&metrics, &shipping) {
        pause = metrics.pause();
    }
    if let Some(shipping) = &shipping {
        message!("memtrail: shipping {} to {}", args.path.display(), shipping.destination());
    }
    loop {
        let recordings = recordings(&args.path, is_folder)?;
        let mut wait = None;
        if let Some(shipping) = &mut shipping {
            shipping.take_in(&recordings, is_folder)?;
            wait = shipping.ship();
        }
        if let Some(metrics) = &mut metrics {
            let shipping = shipping.as_deref();
            metrics.update(&recordings, args.given(redaction.as_ref()), shipping)?;
            // A destination that is away must not hold them up.
            wait = Some(wait.unwrap_or(pause).min(metrics.pause()));
        }
        let has_ended = || {
            shipping.as_ref().is_none_or(|shipping| shipping.all_ended())
                && metrics.as_ref().is_none_or(Metrics::all_ended)
        };
        let is_over = args.once || (!is_folder && has_ended());
        if is_over || interrupted.recv_timeout(wait.unwrap_or(pause)).is_ok() {
            let code = metrics.and_then(Metrics::finish).unwrap_or(ExitCode::SUCCESS);
            let shipped = shipping.map_or(Ok(code), |shipping| shipping.finish())?;
            return Ok(if shipped == ExitCode::SUCCESS { code } else { shipped });
        }
    }
}

/// The way to a destination.
fn shipping<'a>(
    args: &'a Args,
    to: &str,
    redaction: Option<&'a Redaction>,
) -> Result<Box<dyn Shipping + 'a>, Failure> {
    if let Some(lake) = to.strip_prefix(LAKE) {
        if lake.is_empty() {
            return Err(
                Failure::new(Kind::Usage, "--to dir: names no folder").hint("--to dir:lake")
            );
        }
        return Ok(Box::new(IntoLake::new(args, Path::new(lake))?));
    }
    // Not by the parser of arguments, whose errors repeat what was given: it may have a password in it.
    let address = to.parse::<Address>().map_err(|error| {
        Failure::new(Kind::Usage, format_args!("--to: {error}")).hint("--to http://localhost:4040")
    })?;
    let credentials = secret::find(args.auth_file.as_deref())?;
    let client = Client::new(&address, credentials, args.tenant.clone(), args.ca.as_deref())?;
    Ok(Box::new(Deliveries::new(args, address, redaction, client)))
}

/// A recording, or those in a folder.
fn recordings(path: &Path, is_folder: bool) -> Result<Vec<PathBuf>, Failure> {
    if !is_folder {
        return Ok(vec![path.to_path_buf()]);
    }
    let members = Family::open(path)?.into_iter().flat_map(|family| family.members);
    Ok(members.map(|member| path.join(&member.name)).collect())
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
