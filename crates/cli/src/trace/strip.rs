//! `memtrail trace strip`: a trace that names nothing.

use std::borrow::Cow;
use std::path::PathBuf;
use std::process::ExitCode;

use memtrail_trace::rewrite::Rewrite;
use memtrail_trace::write::AllocEvent;
use memtrail_trace::{Alloc, Timestamp, TraceInfo};
use serde::Serialize;

use crate::error::Failure;
use crate::json;
use crate::recording_source::Process;
use crate::trace::copy::copy;
use crate::trace::input::Input;

/// Remove all names from a trace, so that it can be given away
///
/// What remains are sizes and times of allocation, promotion and collection. Call stacks, file and
/// function names, program, host, process id, context and the date are gone: the new trace begins
/// in 1970.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A recording (NAME.memtrail) or a trace file
    trace: PathBuf,
    #[command(flatten)]
    process: Process,
    /// The trace file to write; replaced if it exists
    output: PathBuf,
    /// Print what was written as one JSON object
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Written<'a> {
    output: Cow<'a, str>,
    blocks: u64,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let input = Input::open(&args.trace, args.process)?;
    let reader = input.reader()?;
    let mut strip = Strip { start: reader.info().start, blocks: 0 };
    let decoded = copy(&reader, &args.output, &mut strip)?;
    if args.json {
        let written = Written { output: args.output.to_string_lossy(), blocks: strip.blocks };
        json::print(&written)?;
    }
    input.verdict(&decoded.anomalies)
}

struct Strip {
    start: Timestamp,
    blocks: u64,
}

impl Rewrite for Strip {
    const STACKS: bool = false;

    fn info(&self, old: &TraceInfo) -> TraceInfo {
        TraceInfo {
            sample_rate: old.sample_rate,
            word_bits: old.word_bits,
            executable: "<anonymous>".into(),
            host: "<anonymous>".into(),
            runtime_params: old.runtime_params.clone(),
            pid: 0,
            start: Timestamp(0),
            context: None,
        }
    }

    fn alloc(&mut self, alloc: &Alloc<'_>) -> Option<AllocEvent> {
        self.blocks += 1;
        Some(AllocEvent { length: alloc.length, samples: alloc.samples, source: alloc.source })
    }

    fn time(&self, time: Timestamp) -> Timestamp {
        Timestamp(time.0.saturating_sub(self.start.0))
    }
}
