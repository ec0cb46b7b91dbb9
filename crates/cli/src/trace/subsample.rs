//! `memtrail trace subsample`: a smaller trace, as if recorded at a lower rate.

use std::borrow::Cow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use memtrail_trace::rewrite::Rewrite;
use memtrail_trace::subsample::Subsample;
use memtrail_trace::write::AllocEvent;
use memtrail_trace::{Alloc, Timestamp, TraceInfo};
use serde::Serialize;

use crate::error::{Failure, Kind};
use crate::recording_source::Process;
use crate::trace::copy::copy;
use crate::trace::input::Input;
use crate::{json, rates};

/// Subsample a trace, as if it had been recorded at a lower rate
///
/// Keeps each sample with a chance of one in FACTOR and divides the sampling rate by it, so that
/// all estimates remain right, only less precise. Blocks that lose all their samples are dropped. Where
/// `memtrail run` lowered the rate by itself, blocks of a lower rate are subsampled less.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail trace subsample big.ctf small.ctf 10
  memtrail trace subsample big.ctf minute.ctf 1 --from 60 --to 120   only what was allocated then")]
pub(crate) struct Args {
    /// A recording (NAME.memtrail) or a trace file
    trace: PathBuf,
    #[command(flatten)]
    process: Process,
    /// The trace file to write; replaced if it exists
    output: PathBuf,
    /// How many times fewer samples, at least 1
    factor: f64,
    /// Only blocks allocated from this time after the start: 60, 1m30s
    #[arg(long, value_name = "TIME", value_parser = memtrail_text::duration)]
    from: Option<Duration>,
    /// Only blocks allocated up to, not including, this time after the start
    #[arg(long, value_name = "TIME", value_parser = memtrail_text::duration)]
    to: Option<Duration>,
    /// Equal seeds keep equal samples
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print what was written as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if !(args.factor >= 1.0 && args.factor.is_finite()) {
        return Err(Failure::new(
            Kind::Usage,
            format_args!("factor {} is not a number from 1 up", args.factor),
        )
        .hint("to keep a tenth of the samples, the factor is 10"));
    }
    let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
    let window = (seconds(args.from).unwrap_or(0.0), seconds(args.to).unwrap_or(f64::INFINITY));
    if window.0 >= window.1 {
        return Err(Failure::new(
            Kind::Usage,
            format_args!("nothing is allocated from {} s up to {} s", window.0, window.1),
        ));
    }
    let input = Input::open(&args.trace, args.process)?;
    let reader = input.reader()?;
    let start = reader.info().start;
    let rates = rates::list(&input.recording).map(Into::into).unwrap_or_default();
    let subsample = Subsample::new(args.factor, args.seed).with_rates(rates);
    let mut part = Part { subsample, start, window };
    let decoded = copy(&reader, &args.output, &mut part)?;
    if args.json {
        json::print(&Written {
            output: args.output.to_string_lossy(),
            blocks: part.subsample.kept,
            dropped: part.subsample.dropped,
            sample_rate: reader.info().sample_rate.0 / args.factor,
        })?;
    }
    input.verdict(&decoded.anomalies)
}

/// What `--json` prints.
#[derive(Serialize)]
struct Written<'a> {
    output: Cow<'a, str>,
    blocks: u64,
    dropped: u64,
    sample_rate: f64,
}

/// What was allocated in a window, subsampled.
struct Part {
    subsample: Subsample,
    start: Timestamp,
    /// Seconds since the start.
    window: (f64, f64),
}

impl Rewrite for Part {
    const STACKS: bool = Subsample::STACKS;

    fn info(&self, old: &TraceInfo) -> TraceInfo {
        self.subsample.info(old)
    }

    fn alloc(&mut self, alloc: &Alloc<'_>) -> Option<AllocEvent> {
        let time = alloc.time.0.saturating_sub(self.start.0) as f64 / 1e6;
        if (self.window.0..self.window.1).contains(&time) {
            self.subsample.alloc(alloc)
        } else {
            self.subsample.drop_block();
            None
        }
    }
}
