//! `memtrail ship`: sends time windows of growing recordings to a profile store.
//!
//! | file | subject |
//! |---|---|
//! | `args` | what the user asks for |
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
mod args;
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
mod sources;
mod state;
mod status;
mod tail;
mod taken;

use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::{Failure, Kind};
use address::Address;
pub(crate) use args::Args;
use args::LAKE;
use client::Client;
use deliver::Deliveries;
use lake::IntoLake;
use metrics::{Metrics, Wanted};
use redact::Redaction;
use shipping::Shipping;
use sources::{is_folder_of_recordings, recordings};

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if args.status {
        return status::run(&args.path, args.json);
    }
    // A folder may be empty yet; a path that names nothing is a mistake.
    std::fs::metadata(&args.path).map_err(|error| {
        Failure::unreadable(&args.path, &error)
            .or_hint("`memtrail run -- PROGRAM` makes a recording and prints its name")
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
