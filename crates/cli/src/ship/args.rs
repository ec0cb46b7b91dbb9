//! Arguments of `memtrail ship`.

use std::path::PathBuf;
use std::time::Duration;

use super::labels::{self, Given};
use super::metrics::Target;
use super::protocol::Protocol;
use super::redact::Redaction;
use crate::limit::Limit;

/// Beginning of a destination that is a lake.
pub(super) const LAKE: &str = "dir:";
/// Shortest window. Agents write twice a second, so the windows of a running program come in groups then.
const SHORTEST: Duration = Duration::from_millis(100);

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
    pub(super) path: PathBuf,

    /// Address of Pyroscope (`http://HOST:PORT` or `https://HOST`), or a folder of Parquet (`dir:LAKE`)
    ///
    /// Recordings are exported into a lake whole, as `memtrail export --format parquet` does. A recording is exported again
    /// when it has grown by a tenth, has a new snapshot, or has ended, but not more often than --every.
    #[arg(long, value_name = "URL|dir:LAKE", required_unless_present_any = ["status", "metrics"])]
    pub(super) to: Option<String>,

    /// Interface of the server
    #[arg(long, value_enum, default_value_t = Protocol::Push)]
    pub(super) protocol: Protocol,

    /// Send OpenTelemetry's profiles (OTLP over HTTP), whose protocol is still in development, in place of --protocol
    #[arg(long)]
    pub(super) experimental_otlp: bool,

    /// Publish metrics for Prometheus: a file of the textfile collector (NAME.prom), or a Unix socket that answers
    /// GET /metrics
    #[arg(long, value_name = "FILE|unix:PATH")]
    pub(super) metrics: Option<Target>,

    /// Owners, functions and suspects in metrics; 0 for all
    #[arg(long, value_name = "N", default_value = "10")]
    pub(super) top: Limit,

    /// Length of a time window
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = window_length)]
    pub(super) every: Duration,

    /// Value of the label `service_name` [default: the label service.name of the recording, or the program's name]
    #[arg(long, value_name = "NAME")]
    pub(super) service: Option<String>,

    /// Add a label to all profiles; may be given several times
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = labels::parse)]
    pub(super) labels: Vec<(String, String)>,

    /// Replace names of the program by pseudonyms, and leave out host, process id, paths and the recording's labels
    ///
    /// Pseudonyms are hashes with a secret key, which is made once: the file ship.key in the folder of recordings, or
    /// beside the recording; LAKE.key for a lake. Whoever has the key can find names by guessing.
    #[arg(long)]
    pub(super) redact: bool,

    /// Ship the windows that are complete, and end; without retries
    #[arg(long)]
    pub(super) once: bool,

    /// File with the credentials: a token, or USER:PASSWORD after the word `basic`
    #[arg(long, value_name = "FILE")]
    pub(super) auth_file: Option<PathBuf>,

    /// Tenant (header `X-Scope-OrgID`)
    #[arg(long, value_name = "NAME")]
    pub(super) tenant: Option<String>,

    /// Certificate authorities to trust, in PEM format [default: those of the system]
    #[arg(long, value_name = "FILE")]
    pub(super) ca: Option<PathBuf>,

    /// Longest pause between two retries
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = memtrail_text::duration)]
    pub(super) retry_at_most: Duration,

    /// Print what was shipped and what waits, for each destination
    #[arg(long)]
    pub(super) status: bool,

    /// With --status, print one JSON object
    #[arg(long, requires = "status")]
    pub(super) json: bool,
}

fn window_length(text: &str) -> Result<Duration, String> {
    let length = memtrail_text::duration(text)?;
    if length < SHORTEST { Err("the shortest window is 100ms".to_owned()) } else { Ok(length) }
}

impl Args {
    pub(super) fn protocol(&self) -> Protocol {
        if self.experimental_otlp { Protocol::Otlp } else { self.protocol }
    }

    /// Labels that the user gave.
    pub(super) fn given<'a>(&'a self, redaction: Option<&'a Redaction>) -> Given<'a> {
        Given { service: self.service.as_deref(), more: &self.labels, redaction }
    }
}
