//! `memtrail trace hotspots`: which functions allocate most, and for whom.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use memtrail_profile::Caveats;
use memtrail_profile::hotspots::{Hotspot, hotspots};
use memtrail_profile::samples::StackSamples;
use memtrail_text::rounded::{bytes, grouped, percent};
use memtrail_trace::{Decoded, Detail, Event, TraceInfo};
use serde::Serialize;

use crate::caveats;
use crate::error::Failure;
use crate::json;
use crate::plain_text;
use crate::recording_source::Process;
use crate::trace::input::Input;
use crate::trace::progress::Progress;

/// Positions that are printed of each function.
const POSITIONS: usize = 3;

/// List the functions that allocate most, and their callers
///
/// A function is listed when it allocates more than 0.5 % of all memory. A caller is listed below it
/// when more than a tenth of what is allocated during calls to it is allocated here, and more than
/// elsewhere in the program: it is then worth asking what the caller does. The percentage is of
/// what is allocated during calls to it.
#[derive(clap::Args)]
#[command(after_help = "\
Everything ever allocated counts, live or not. For what is still live: memtrail report.
  memtrail trace hotspots server-4711.memtrail | less")]
pub(crate) struct Args {
    /// A recording (NAME.memtrail) or a trace file
    trace: PathBuf,
    #[command(flatten)]
    process: Process,
    /// Print one JSON object; sizes in bytes
    #[arg(long)]
    json: bool,
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
    let found = hotspots(&samples, &decoded.tables);
    drop(progress);
    let report = Report::new(reader.info(), &samples, &found, &decoded);
    let report = Report { caveats: caveats::reported(&input.recording).of_allocation(), ..report };
    let mut out = plain_text::standard_output(args.json);
    if args.json {
        json::write(&mut out, &report)?;
    } else {
        report.print(&mut out)?;
    }
    out.flush()?;
    input.verdict(&decoded.anomalies)
}

#[derive(Serialize)]
struct Report {
    program: String,
    pid: u64,
    samples: u64,
    bytes: u64,
    hotspots: Vec<Spot>,
    /// What must be known of the figures.
    #[serde(skip_serializing_if = "Caveats::is_empty")]
    caveats: Caveats,
}

#[derive(Serialize)]
struct Spot {
    function: String,
    file: String,
    samples: u64,
    bytes: u64,
    share: f64,
    positions: Vec<Place>,
    callers: Vec<Caller>,
}

#[derive(Serialize)]
struct Place {
    line: u32,
    start_col: u16,
    end_col: u16,
    samples: u64,
}

#[derive(Serialize)]
struct Caller {
    function: String,
    file: String,
    samples: u64,
    bytes: u64,
    /// Of what is allocated during calls to it.
    share: f64,
}

impl Spot {
    /// Its file and positions; nothing of code without debug information.
    fn places(&self) -> String {
        if self.file.is_empty() {
            return String::new();
        }
        let known = self.positions.iter().filter(|at| at.line != 0);
        let shown: Vec<String> = known
            .clone()
            .take(POSITIONS)
            .map(|at| format!("{}:{}-{}", at.line, at.start_col, at.end_col))
            .collect();
        let before = if shown.is_empty() { "" } else { ":" };
        let more = if known.count() > POSITIONS { ", …" } else { "" };
        format!(" ({}{before}{}{more})", self.file, shown.join(", "))
    }
}

impl Report {
    fn new(info: &TraceInfo, samples: &StackSamples, found: &[Hotspot], decoded: &Decoded) -> Self {
        let word_bytes = f64::from(info.word_bits / 8);
        let size = |samples: u64| (samples as f64 * word_bytes / info.sample_rate.0).round() as u64;
        let spot = |spot: &Hotspot| {
            let (function, file) = spot.place.names(&decoded.tables);
            Spot {
                function,
                file,
                samples: spot.samples,
                bytes: size(spot.samples),
                share: spot.samples as f64 / samples.total as f64,
                positions: spot
                    .positions
                    .iter()
                    .map(|&(at, samples)| Place {
                        line: at.line,
                        start_col: at.start_col,
                        end_col: at.end_col,
                        samples,
                    })
                    .collect(),
                callers: spot
                    .callers
                    .iter()
                    .map(|caller| {
                        let (function, file) = caller.place.names(&decoded.tables);
                        Caller {
                            function,
                            file,
                            samples: caller.samples,
                            bytes: size(caller.samples),
                            share: caller.samples as f64 / caller.total as f64,
                        }
                    })
                    .collect(),
            }
        };
        Self {
            program: info.executable.clone(),
            pid: info.pid,
            samples: samples.total,
            bytes: size(samples.total),
            hotspots: found.iter().map(spot).collect(),
            caveats: Caveats::default(),
        }
    }

    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        let mark = self.caveats.mark();
        let size = |size: u64| format!("{mark}{}", bytes(size as f64));
        writeln!(
            out,
            "{} (pid {}): {mark}{} allocated, from {} samples",
            self.program,
            self.pid,
            bytes(self.bytes as f64),
            grouped(self.samples)
        )?;
        for note in self.caveats.notes() {
            writeln!(out, "note: {note}")?;
        }
        for spot in &self.hotspots {
            write!(out, "\n{:>9} {:>7}  {}", size(spot.bytes), percent(spot.share), spot.function)?;
            writeln!(out, "{}", spot.places())?;
            for caller in &spot.callers {
                writeln!(
                    out,
                    "{:>20} via {} ({} of what it allocates)",
                    size(caller.bytes),
                    caller.function,
                    percent(caller.share)
                )?;
            }
        }
        if self.hotspots.is_empty() {
            writeln!(out, "\nNo function allocates more than 0.5 % of this.")?;
        }
        Ok(())
    }
}
