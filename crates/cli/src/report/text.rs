//! The report for people, in as many columns as they have.

use jiff::tz::TimeZone;
use memtrail_profile::estimate::Adapted;
use memtrail_profile::report::{Amount, Anomalies, Report};
use memtrail_profile::time::Elapsed;
use memtrail_recording::{FileState, Outcome, Recording};
use memtrail_text::rounded::{bytes, count, grouped, percent, ratio, seconds};

use super::family::FamilyReport;
use super::read::Process;
use super::{curve, places, when};
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG, WARNING, clean};
use crate::damage::UNKNOWN;
use crate::outcome;
use crate::process::collections;
use crate::rates;
use crate::recording_facts;

/// The whole report; styled, as the caller may strip styles.
pub(super) fn render(
    recording: &Recording,
    report: &Report,
    family: Option<&FamilyReport>,
    process: &Process,
    verdict: Option<&str>,
    width: usize,
    zone: &TimeZone,
) -> String {
    let mut canvas = Canvas::new(width);
    heading(&mut canvas, recording, report, zone);
    if report.totals.allocated.samples == 0 {
        nothing(&mut canvas, recording, report);
    } else {
        totals(&mut canvas, recording, report);
        curve::draw(&mut canvas, report);
    }
    if let Some(memory) = &process.memory {
        memory.draw(&mut canvas);
    }
    if let Some(summary) = &process.collections {
        collections::draw(&mut canvas, summary);
    }
    if let Some(family) = family {
        family.draw(&mut canvas);
    }
    if report.totals.allocated.samples > 0 {
        places::draw(&mut canvas, report, recording.is_merged());
        places::explain(&mut canvas, report);
    }
    if report.totals.allocated.samples > 0 || verdict.is_some() {
        leaks(&mut canvas, recording, report, verdict);
    }
    warnings(&mut canvas, recording, report);
    canvas.finish()
}

/// The verdict, or the command that gives it if much of what was allocated stayed.
fn leaks(canvas: &mut Canvas, recording: &Recording, report: &Report, verdict: Option<&str>) {
    let selected = &report.selection;
    let is_of_all = selected.allocated_from_seconds.is_none()
        && selected.allocated_to_seconds.is_none()
        && matches!(selected.live_at, "peak" | "end");
    if let Some(verdict) = verdict {
        canvas.paragraph(PLAIN, 2, &format!("leaks: {verdict}"));
    } else if is_of_all && selected.never_collected_share > 0.02 {
        let text = if recording.is_merged() {
            "a leak? `memtrail leaks` names what grows, what allocated it and what owns it"
        } else {
            "a leak? heap snapshots tell what owns it: memtrail run --snapshot exit"
        };
        canvas.paragraph(FAINT, 0, text);
    }
}

fn heading(canvas: &mut Canvas, recording: &Recording, report: &Report, zone: &TimeZone) {
    let trace = &report.trace;
    let description = recording.description.as_ref();
    let command = match description {
        Some(description) if !description.arguments.is_empty() => description.arguments.join(" "),
        _ => trace.executable.clone(),
    };
    let context = trace.context.as_ref().map(|context| format!("  ({context})"));
    let (command, context) = (clean(&command), context.unwrap_or_default());
    canvas.line(&[(STRONG, &command), (PLAIN, &context)]);
    if recording.is_merged() {
        let name = recording_facts::name(&recording.path);
        canvas.line(&[(PLAIN, &format!("with other processes, recorded in {name}"))]);
    }

    let start = when::Span::new(trace.start_unix_us, Elapsed::default(), zone.clone()).start;
    let start = start.to_zoned(zone.clone()).strftime("%F %T %Z");
    let runtime = description
        .map_or(String::new(), |description| format!(", {}", description.runtime.name()));
    let line = format!(
        "{} from {start}; pid {} on {}{runtime}",
        seconds(lasted(recording, report)),
        trace.pid,
        trace.host
    );
    let outcome = outcome::words(description.and_then(|d| d.outcome.as_ref()));
    let line = outcome.map_or(line.clone(), |words| format!("{line}; {words}"));
    canvas.paragraph(PLAIN, 0, &line);
    let rate = if trace.samples_per_word >= 1.0 {
        outcome::every_word(description)
    } else {
        let distance = bytes(trace.bytes_per_sample);
        let samples = grouped(samples_taken(report));
        format!("one sample per {distance}, {samples} samples: estimates ± standard error")
    };
    let rate = match &trace.adapted {
        Some(adapted) => format!("{rate}; {}", rates::adapted(adapted)),
        None => rate,
    };
    canvas.paragraph(FAINT, 0, &rate);
    canvas.gap();
}

fn nothing(canvas: &mut Canvas, recording: &Recording, report: &Report) {
    let description = recording.description.as_ref();
    if description.is_some_and(|description| description.sampling.impossible.is_some()) {
        // The notes below say why.
        canvas.paragraph(PLAIN, 0, "Nothing is known of allocations: they could not be recorded.");
        return;
    }
    if description.and_then(outcome::unrecorded_forks).is_some() {
        let text = "Nothing was sampled in this process. Those that it forked are not recorded.";
        canvas.paragraph(PLAIN, 0, text);
        canvas.paragraph(FAINT, 0, &format!("{}.", outcome::FORKS_ARE_RECORDED));
        return;
    }
    let most = bytes(report.trace.unseen_bytes());
    let text = format!(
        "Nothing was sampled: the program allocated little, most likely less than {most} (if it \
         had allocated more, something would have been sampled with 95 % certainty)."
    );
    canvas.paragraph(PLAIN, 0, &text);
    canvas.paragraph(FAINT, 0, "`memtrail run --rate 1e-2` records short runs in more detail.");
}

/// Samples that were taken. Those of a lowered rate stand for several in the sums.
fn samples_taken(report: &Report) -> u64 {
    let samples = report.totals.allocated.samples;
    let each_is = |adapted: &Adapted| adapted.mean_samples_per_word / report.trace.samples_per_word;
    report
        .trace
        .adapted
        .as_ref()
        .map_or(samples, |it| (samples as f64 * each_is(it)).round() as u64)
}

/// Time that the program ran, in seconds, or runs by now; where that is not known, up to the last event of the trace.
fn lasted(recording: &Recording, report: &Report) -> f64 {
    let trace = &report.trace;
    let ended = recording.description.as_ref().and_then(|description| description.ended_unix_us);
    let ran = ended.and_then(|ended| ended.checked_sub(trace.start_unix_us));
    let ran = ran.map(|microseconds| microseconds as f64 / 1e6);
    let present = recording_facts::present(recording).map(|present| present.seconds);
    ran.or(present).unwrap_or(0.0).max(trace.duration_seconds)
}

/// Time in which allocations were recorded, in seconds. A trace that was cut ends with its last event, and the program ran on.
fn recorded_time(recording: &Recording, report: &Report) -> f64 {
    let is_cut = recording
        .description
        .as_ref()
        .is_some_and(|description| description.trace.state == FileState::Cut);
    if is_cut { report.trace.duration_seconds } else { lasted(recording, report) }
}

fn totals(canvas: &mut Canvas, recording: &Recording, report: &Report) {
    let recorded = recorded_time(recording, report);
    let totals = &report.totals;
    let mark = report.caveats.mark();
    let unseen = report.trace.unseen_bytes();
    let mut row = |name: &str, amount: &Amount, may_be_unseen: bool, note: String| {
        let size = match amount.bytes_estimate() {
            none if none.value == 0.0 && may_be_unseen && mark.is_empty() => {
                format!("< {}", bytes(unseen))
            }
            size => format!("{mark}{}", size.size()),
        };
        let blocks = format!("{mark}{} blocks", count(amount.blocks));
        canvas.line(&[
            (PLAIN, &format!("{name:<16}")),
            (STRONG, &format!("{size:>14}")),
            (PLAIN, &format!("{blocks:>15}")),
            (FAINT, &if note.is_empty() { note } else { format!("  {note}") }),
        ]);
    };
    let share = |part: &Amount, whole: &Amount| percent(ratio(part.bytes, whole.bytes));
    let rate = ratio(totals.allocated.bytes, recorded);
    let speed = if rate > 0.0 { format!("{mark}{}/s", bytes(rate)) } else { String::new() };
    row("allocated", &totals.allocated, false, speed);
    let promoted = share(&totals.promoted, &totals.allocated);
    let depends = if report.caveats.promoted.is_some() { ", depends on the rate" } else { "" };
    if !recording_facts::is_native(recording) {
        row("promoted", &totals.promoted, false, format!("{promoted} of it{depends}"));
    }
    row("live at peak", &totals.peak, false, format!("at {}", seconds(totals.peak_seconds)));
    let end = share(&totals.live_at_end, &totals.peak);
    row("live at the end", &totals.live_at_end, unseen > 0.0, format!("{end} of the peak"));
    canvas.gap();
}

fn warnings(canvas: &mut Canvas, recording: &Recording, report: &Report) {
    if let Some(problem) = &recording.problem {
        let rest = if recording.is_merged() { "the others are shown" } else { UNKNOWN };
        warn(canvas, &format!("{problem}: {rest}"));
    }
    for note in report.caveats.notes() {
        warn(canvas, &format!("note: {note}"));
    }
    if let Some(description) = &recording.description {
        let trace = &description.trace;
        match (&description.outcome, trace.state) {
            (Some(Outcome::GaveWay), _) => {
                warn(
                    canvas,
                    "the recording ends where the program started a Gc.Memprof profile of its own",
                );
                if let Some(hint) = outcome::hint(description) {
                    warn(canvas, &format!("hint: {hint}"));
                }
            }
            (Some(Outcome::WriteFailed { errno }), _) => {
                let error = std::io::Error::from_raw_os_error(*errno);
                warn(canvas, &format!("the recording ends where writing failed: {error}"));
            }
            (_, FileState::Cut) => {
                warn(canvas, "the program died without a word: its last second may be missing");
            }
            (None, FileState::Growing) => {
                warn(canvas, "the recording still grows: this is what it holds so far");
            }
            _ => {}
        }
        let estimates = report.caveats.estimates.as_ref();
        for note in description.notes.iter().filter(|note| Some(*note) != estimates) {
            warn(canvas, &format!("note: {note}"));
        }
        for line in outcome::missing(description).into_iter().chain(outcome::unnamed(recording)) {
            warn(canvas, &line);
        }
    }
    let Anomalies { damage, inconsistent_events } = report.anomalies;
    if damage > 0 {
        let plural = if damage == 1 { "anomaly" } else { "anomalies" };
        let number = grouped(damage);
        let text = format!("{number} {plural} in the trace; `memtrail trace info` names the first");
        warn(canvas, &text);
    }
    if inconsistent_events > 0 {
        let plural =
            if inconsistent_events == 1 { "event contradicts" } else { "events contradict" };
        let number = grouped(inconsistent_events);
        warn(canvas, &format!("{number} {plural} others: unknown blocks, or the same one twice"));
    }
}

fn warn(canvas: &mut Canvas, text: &str) {
    canvas.paragraph(WARNING, 2, text);
}
