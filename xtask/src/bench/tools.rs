//! How fast a large trace is read.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::folders::scratch;
use super::options::Options;
use super::statistics::quartiles;
use super::table::Table;
use super::{cpu, generate, peer};
use crate::command::Outcome;

/// Our tool, its arguments before the trace, and memtrace's tool for the same.
const TOOLS: &[(&str, &[&str], &str)] = &[
    ("trace info", &["trace", "info"], "memtrace_identify"),
    ("trace hotspots", &["trace", "hotspots"], "memtrace_hotspots"),
    ("trace folded", &["trace", "folded"], "memtrace_flamegraph"),
    ("report", &["report"], ""),
];

/// Measure each tool on a generated trace.
pub(super) fn measure(memtrail: &Path, options: &Options) -> Outcome {
    let trace = scratch()?.join(format!("generated-{}M.ctf", options.events));
    generate::trace(&trace, options.events * 1_000_000)?;
    println!("### Reading a trace of {} million events, CPU time\n", options.events);
    let mut table = Table::new(&["tool", "memtrail", "quartiles", "memtrace", "times faster"]);
    for (name, arguments, theirs) in TOOLS {
        let ours = median(options.rounds.min(5), || {
            let mut command = Command::new(memtrail);
            command.args(*arguments).arg(&trace);
            command
        })?;
        let peer: Option<PathBuf> = if theirs.is_empty() { None } else { peer::program(theirs) };
        let theirs = match peer {
            None => None,
            Some(tool) => Some(median(1, || {
                let mut command = Command::new(&tool);
                command.arg(&trace);
                command
            })?),
        };
        table.row(vec![
            (*name).into(),
            format!("{:.2} s", ours.median),
            format!("{:.2} .. {:.2} s", ours.low, ours.high),
            theirs.map_or("-".into(), |t| format!("{:.2} s", t.median)),
            theirs.map_or("-".into(), |t| format!("{:.1}", t.median / ours.median)),
        ]);
    }
    table.print();
    Ok(())
}

fn median(rounds: usize, make: impl Fn() -> Command) -> Outcome<super::statistics::Quartiles> {
    let mut seconds = Vec::new();
    for _ in 0..rounds.max(1) {
        seconds.push(cpu::of(&mut make())?.as_secs_f64());
    }
    quartiles(seconds).ok_or_else(|| "nothing was measured".into())
}
