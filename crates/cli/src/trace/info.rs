//! `memtrail trace info`: what a trace is of, and its most telling figures.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use memtrail_profile::Caveats;
use memtrail_profile::estimate::Adapted;
use memtrail_profile::stats::{Stats, StatsBuilder};
use memtrail_recording::Outcome;
use memtrail_text::rounded::{bytes, grouped, percent};
use memtrail_trace::{Decoded, Detail, Reader, TraceInfo};
use serde::Serialize;

use crate::caveats;
use crate::damage;
use crate::error::Failure;
use crate::json;
use crate::outcome;
use crate::plain_text;
use crate::rates;
use crate::recording_source::Process;
use crate::trace::input::Input;
use crate::trace::progress::Progress;

/// Show what was traced, and how fast it allocated
///
/// The first thing to look at when someone hands you a trace: which program, when, for how long,
/// sampled how densely; how much it allocated a second, how much of that outlived the minor heap,
/// and whether what is freed keeps up.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A recording (NAME.memtrail) or a trace file
    trace: PathBuf,
    #[command(flatten)]
    process: Process,
    /// Print one JSON object; sizes in bytes, times in seconds
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let input = Input::open(&args.trace, args.process)?;
    let reader = input.reader()?;
    let mut stats = StatsBuilder::default();
    stats.rates(rates::list(&input.recording).map(Into::into).unwrap_or_default());
    let mut progress = Progress::new();
    let decoded = reader.for_each(Detail::Marks, |event, _| {
        progress.tick();
        stats.add(&event);
    });
    drop(progress);
    let summary = Summary::new(&input, &reader, &decoded, &stats.finish());
    let mut out = plain_text::standard_output(args.json);
    if args.json {
        json::write(&mut out, &summary)?;
    } else {
        summary.print(&mut out, &input, reader.info())?;
    }
    out.flush()?;
    input.verdict(&decoded.anomalies)
}

/// All figures in bytes and seconds, estimated from the samples.
#[derive(Serialize)]
struct Summary {
    program: String,
    pid: u64,
    host: String,
    word_bits: u8,
    context: Option<String>,
    runtime_parameters: String,
    started: String,
    duration: f64,
    sample_rate: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    adapted: Option<Adapted>,
    trace_bytes: u64,
    packets: u64,
    domains: u64,
    call_sites: usize,
    functions: usize,
    blocks_sampled: u64,
    blocks_promoted: u64,
    blocks_collected: u64,
    minor_allocated: u64,
    minor_promoted: u64,
    major_allocated: u64,
    external_allocated: u64,
    major_collected: u64,
    live_at_end: u64,
    share_up_to_4_words: Option<f64>,
    share_up_to_16_words: Option<f64>,
    share_up_to_256_words: Option<f64>,
    largest_block: u64,
    anomalies: u64,
    first_damage: Option<String>,
    outcome: Option<Outcome>,
    /// What was to be recorded and is not there.
    missing: Vec<String>,
    notes: Vec<String>,
    /// What must be known of the figures.
    #[serde(skip_serializing_if = "Caveats::is_empty")]
    caveats: Caveats,
}

impl Summary {
    fn new(input: &Input, reader: &Reader<'_>, decoded: &Decoded, stats: &Stats) -> Self {
        let info = reader.info();
        let description = input.recording.description.as_ref();
        let word_bytes = u64::from(info.word_bits / 8);
        let size =
            |samples: u64| (samples as f64 * word_bytes as f64 / info.sample_rate.0).round() as u64;
        let allocated = stats.allocated();
        let share = |samples| (allocated > 0).then(|| samples as f64 / allocated as f64);
        Self {
            program: info.executable.clone(),
            pid: info.pid,
            host: info.host.clone(),
            word_bits: info.word_bits,
            context: info.context.clone().filter(|context| !context.is_empty()),
            runtime_parameters: info.runtime_params.clone(),
            started: started(info, "%FT%TZ"),
            duration: stats.last.0.saturating_sub(info.start.0) as f64 / 1e6,
            sample_rate: info.sample_rate.0,
            adapted: stats.adapted(info.sample_rate),
            trace_bytes: reader.size().0,
            packets: decoded.packets,
            domains: stats.domains,
            call_sites: decoded.tables.locations.frames(),
            functions: decoded.tables.locations.functions().len(),
            blocks_sampled: stats.blocks,
            blocks_promoted: stats.promoted_blocks,
            blocks_collected: stats.collected_blocks,
            minor_allocated: size(stats.minor),
            minor_promoted: size(stats.promoted),
            major_allocated: size(stats.major),
            external_allocated: size(stats.external),
            major_collected: size(stats.major_collected),
            live_at_end: size(stats.live()),
            share_up_to_4_words: share(stats.small[0]),
            share_up_to_16_words: share(stats.small[1]),
            share_up_to_256_words: share(stats.small[2]),
            largest_block: stats.largest.0.saturating_mul(word_bytes),
            anomalies: decoded.anomalies.total(),
            first_damage: damage::list(&decoded.anomalies).next(),
            outcome: description.and_then(|d| d.outcome.clone()),
            missing: description.map_or_else(Vec::new, outcome::missing),
            notes: description.map_or(Vec::new(), |d| d.notes.clone()),
            caveats: Caveats::with_external(
                &caveats::reported(&input.recording),
                stats.external > 0,
            ),
        }
    }

    fn print(
        &self,
        out: &mut impl Write,
        input: &Input,
        info: &TraceInfo,
    ) -> Result<(), std::io::Error> {
        let mark = self.caveats.mark();
        let rate = |size: u64| match self.duration {
            0.0 => "n/a".to_owned(),
            seconds => format!("{mark}{}/s", bytes(size as f64 / seconds)),
        };
        let merged = input.recording.is_merged();
        let file = if merged { &input.recording.path } else { &input.recording.trace }.display();
        writeln!(out, "Trace      {file}, {}", bytes(self.trace_bytes as f64))?;
        writeln!(out, "Program    {}", self.program)?;
        writeln!(out, "           pid {} on {}, {}-bit", self.pid, self.host, self.word_bits)?;
        if let Some(context) = &self.context {
            writeln!(out, "Context    {context}")?;
        }
        writeln!(
            out,
            "Started    {}, traced for {:.3} s",
            started(info, "%F %T UTC"),
            self.duration
        )?;
        writeln!(out, "GC         {}", self.runtime_parameters)?;
        writeln!(
            out,
            "Sampling   {:e} a word, one sample per {}{}",
            info.sample_rate.0,
            bytes(f64::from(info.word_bits / 8) / info.sample_rate.0),
            self.adapted.as_ref().map_or_else(String::new, |a| format!("; {}", rates::adapted(a)))
        )?;
        writeln!(
            out,
            "Sampled    {} blocks in {} domain{}, from {} call sites",
            grouped(self.blocks_sampled),
            self.domains,
            if self.domains == 1 { "" } else { "s" },
            grouped(self.call_sites as u64),
        )?;
        writeln!(
            out,
            "Minor      {} allocated, {} of it promoted{}",
            rate(self.minor_allocated),
            percent(share(self.minor_promoted, self.minor_allocated)),
            if self.caveats.promoted.is_some() { " (depends on the rate)" } else { "" }
        )?;
        let direct = self.major_allocated + self.external_allocated;
        writeln!(
            out,
            "Major      {} allocated, {} of it directly; {} collected",
            rate(self.minor_promoted + direct),
            rate(direct),
            rate(self.major_collected)
        )?;
        if self.external_allocated > 0 {
            writeln!(out, "External   {} of that", rate(self.external_allocated))?;
        }
        if let (Some(up_to_4), Some(up_to_16), Some(up_to_256)) =
            (self.share_up_to_4_words, self.share_up_to_16_words, self.share_up_to_256_words)
        {
            writeln!(
                out,
                "Sizes      {} up to 4 words, {} up to 16, {} up to 256; largest {}",
                percent(up_to_4),
                percent(up_to_16),
                percent(up_to_256),
                bytes(self.largest_block as f64)
            )?;
        }
        writeln!(out, "Live       {mark}{} at the end", bytes(self.live_at_end as f64))?;
        if let Some(words) = outcome::words(self.outcome.as_ref()) {
            writeln!(out, "Ending     {words}")?;
        }
        if let Some(damage) = &self.first_damage {
            writeln!(out, "Damage     {damage}")?;
        }
        for line in &self.missing {
            writeln!(out, "Missing    {line}")?;
        }
        let estimates = self.caveats.estimates.as_ref();
        let notes = self.notes.iter().filter(|note| Some(*note) != estimates);
        for note in self.caveats.notes().iter().chain(notes) {
            writeln!(out, "Note       {note}")?;
        }
        Ok(())
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn started(info: &TraceInfo, format: &str) -> String {
    i64::try_from(info.start.0)
        .ok()
        .and_then(|start| jiff::Timestamp::from_microsecond(start).ok())
        .map_or_else(|| "n/a".into(), |start| start.strftime(format).to_string())
}
