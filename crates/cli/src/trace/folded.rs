//! `memtrail trace folded`: call stacks for flame graph tools.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use memtrail_export::folded::Lines;
use memtrail_profile::folded::Folded;
use memtrail_profile::samples::StackSamples;
use memtrail_trace::{Detail, Event, FunctionId};
use serde::Serialize;

use crate::caveats;
use crate::error::Failure;
use crate::plain_text;
use crate::recording_source::Process;
use crate::trace::input::Input;
use crate::trace::progress::Progress;

/// Print folded call stacks, for flamegraph.pl, inferno, speedscope and their like
///
/// One line a call stack: its functions from the outermost to the innermost, separated by
/// semicolons, a space, and the number of samples allocated there. Of a function that occurs
/// several times only the outermost is kept. Stacks of a single function are left out.
#[derive(clap::Args)]
#[command(after_help = "\
Everything ever allocated counts, live or not.
  memtrail trace folded coqc-4711.memtrail | inferno-flamegraph > coqc.svg
  memtrail trace folded coqc-4711.memtrail > coqc.txt     then open it in speedscope.app")]
pub(crate) struct Args {
    /// A recording (NAME.memtrail) or a trace file
    trace: PathBuf,
    #[command(flatten)]
    process: Process,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    stack: Vec<std::borrow::Cow<'a, str>>,
    samples: u64,
    bytes: u64,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let input = Input::open(&args.trace, args.process)?;
    let reader = input.reader()?;
    let mut samples = StackSamples::default();
    let mut progress = Progress::new();
    let decoded = reader.for_each(Detail::Stacks, |event, _| {
        progress.tick();
        if let Event::Alloc(alloc) = event {
            samples.add(&alloc);
        }
    });
    let folded = Folded::new(&samples, &decoded.tables);
    drop(progress);
    let names = decoded.tables.locations.functions();
    let info = reader.info();
    let unit = f64::from(info.word_bits / 8) / info.sample_rate.0;
    let mut out = plain_text::standard_output(args.json);
    if args.json {
        folded.for_each(|path, samples| {
            let name = |&id: &FunctionId| String::from_utf8_lossy(names.get(id));
            let stack = path.iter().map(name).collect();
            let line = Line { stack, samples, bytes: (samples as f64 * unit).round() as u64 };
            serde_json::to_writer(&mut out, &line)?;
            out.write_all(b"\n")
        })?;
    } else {
        let mut lines = Lines::new(&mut out);
        folded.for_each(|path, samples| {
            lines.clear();
            for &function in path {
                lines.enter(names.get(function));
            }
            lines.end(samples)
        })?;
    }
    out.flush()?;
    caveats::tell(&caveats::reported(&input.recording).of_allocation());
    input.verdict(&decoded.anomalies)
}
