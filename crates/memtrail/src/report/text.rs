//! The report for people, in as many columns as they have.

use jiff::tz::TimeZone;
use memtrail_profile::report::{Amount, CallerChain, Place, Report};
use memtrail_profile::time::Elapsed;
use memtrail_recording::{FileState, Outcome, Recording};

use super::canvas::{
    CURVE, Canvas, FAINT, PLAIN, STRONG, WARNING, clean, columns, elide_middle, elide_start,
};
use super::units::{bytes, bytes_with_error, count, grouped, percent, seconds};
use super::{chain, sparkline, when};

/// Lines of the picture of live memory.
const ROWS: usize = 3;
/// Columns before the name of a place.
const NAME: usize = 37;
/// Where a name would have fewer columns than that, it has a line of its own.
const LEAST_NAME: usize = 24;

/// The whole report; styled, as the caller may strip styles.
pub(super) fn render(
    recording: &Recording,
    report: &Report,
    width: usize,
    zone: &TimeZone,
) -> String {
    let mut canvas = Canvas::new(width);
    heading(&mut canvas, recording, report, zone);
    if report.totals.allocated.samples == 0 {
        nothing(&mut canvas, report);
    } else {
        totals(&mut canvas, report);
        curve(&mut canvas, report);
        places(&mut canvas, report);
        closing(&mut canvas, report);
    }
    warnings(&mut canvas, recording, report);
    canvas.finish()
}

/// How many columns the picture of live memory has.
pub(super) fn points(width: usize) -> usize {
    width.saturating_sub(2).max(1)
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

    let start = when::Span::new(trace.start_unix_us, Elapsed::default(), zone.clone()).start;
    let start = start.to_zoned(zone.clone()).strftime("%F %T %Z");
    let runtime = description.map_or(String::new(), |description| {
        format!(", {} {}", description.runtime.language, description.runtime.version)
    });
    let line = format!(
        "{} from {start}; pid {} on {}{runtime}",
        seconds(trace.duration_seconds),
        trace.pid,
        trace.host
    );
    canvas.paragraph(PLAIN, 0, &line);
    let rate = if trace.samples_per_word >= 1.0 {
        "every word sampled: figures are exact".to_owned()
    } else {
        let distance = bytes(trace.bytes_per_sample);
        let samples = grouped(report.totals.allocated.samples);
        format!("one sample per {distance}, {samples} samples: estimates ± standard error")
    };
    canvas.paragraph(FAINT, 0, &rate);
    canvas.gap();
}

fn nothing(canvas: &mut Canvas, report: &Report) {
    // (1−λ)^N = 0.05 where N = 3/λ.
    let most = bytes(3.0 * report.trace.bytes_per_sample);
    let text = format!(
        "Nothing was sampled: the program allocated little, most likely less than {most} (if it \
         had allocated more, something would have been sampled with 95 % certainty)."
    );
    canvas.paragraph(PLAIN, 0, &text);
    canvas.paragraph(FAINT, 0, "`memtrail run --rate 1e-2` records short runs in more detail.");
}

fn totals(canvas: &mut Canvas, report: &Report) {
    let totals = &report.totals;
    let mut row = |name: &str, amount: &Amount, note: String| {
        let size = bytes_with_error(amount.bytes, amount.bytes_stderr);
        let blocks = format!("{} blocks", count(amount.blocks));
        canvas.line(&[
            (PLAIN, &format!("{name:<16}")),
            (STRONG, &format!("{size:>14}")),
            (PLAIN, &format!("{blocks:>15}")),
            (FAINT, &if note.is_empty() { note } else { format!("  {note}") }),
        ]);
    };
    let share = |part: &Amount, whole: &Amount| percent(ratio(part.bytes, whole.bytes));
    let rate = ratio(totals.allocated.bytes, report.trace.duration_seconds);
    let speed = if rate > 0.0 { format!("{}/s", bytes(rate)) } else { String::new() };
    row("allocated", &totals.allocated, speed);
    let promoted = share(&totals.promoted, &totals.allocated);
    row("promoted", &totals.promoted, format!("{promoted} of it"));
    row("live at peak", &totals.peak, format!("at {}", seconds(totals.peak_seconds)));
    let end = share(&totals.live_at_end, &totals.peak);
    row("live at the end", &totals.live_at_end, format!("{end} of the peak"));
    canvas.gap();
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// ` (79 % external, 19 % major)`: where the peak's memory was, if not all of it in the major
/// heap. What does not fit is left out, the smallest first.
fn kinds_at_peak(report: &Report, room: usize) -> String {
    let totals = &report.totals;
    let mut kinds = vec![
        ("minor", totals.peak_minor_bytes),
        ("major", totals.peak_major_bytes),
        ("external", totals.peak_external_bytes),
    ];
    kinds.retain(|&(_, size)| size >= totals.peak.bytes * 0.005);
    kinds.sort_by(|a, b| b.1.total_cmp(&a.1));
    loop {
        let share = |size| percent(ratio(size, totals.peak.bytes));
        let names: Vec<String> =
            kinds.iter().map(|&(kind, size)| format!("{} {kind}", share(size))).collect();
        let text = format!(" ({})", names.join(", "));
        if kinds.is_empty() || matches!(kinds[..], [("major", _)]) {
            return String::new();
        }
        if columns(&text) <= room {
            return text;
        }
        kinds.pop();
    }
}

fn curve(canvas: &mut Canvas, report: &Report) {
    let values: Vec<f64> = report.timeline.iter().map(|point| point.most_bytes).collect();
    let title = "live memory";
    let caption = format!(" over time, up to {}", bytes(report.totals.peak.bytes));
    let kinds =
        kinds_at_peak(report, canvas.width().saturating_sub(columns(title) + columns(&caption)));
    canvas.line(&[(PLAIN, title), (FAINT, &caption), (FAINT, &kinds)]);
    for line in sparkline::area(&values, ROWS) {
        canvas.line(&[(CURVE, &format!("▕{line}▏"))]);
    }
    let columns_used = points(canvas.width()) + 2;
    let (start, end) = ("0", seconds(report.trace.duration_seconds));
    let peak = format!("▴ peak {}", seconds(report.totals.peak_seconds));
    let at = ratio(report.totals.peak_seconds, report.trace.duration_seconds);
    let at = 1 + (at * points(canvas.width()).saturating_sub(1) as f64).round() as usize;
    // The mark stands below its column; its words on the side that has room.
    let words = columns(&peak);
    let axis = if at + words + 2 + columns(&end) <= columns_used {
        let before = at.saturating_sub(columns(start));
        let after = columns_used.saturating_sub(at.max(columns(start)) + words + columns(&end));
        format!("{start}{:before$}{peak}{:after$}{end}", "", "")
    } else {
        let turned = format!("peak {} ▴", seconds(report.totals.peak_seconds));
        let room = (at + 1).saturating_sub(columns(start));
        let axis = format!("{start}{turned:>room$}");
        let after = columns_used.saturating_sub(columns(&axis) + columns(&end));
        if after > 0 { format!("{axis}{:after$}{end}", "") } else { axis }
    };
    canvas.line(&[(FAINT, &axis)]);
    canvas.gap();
}

fn places(canvas: &mut Canvas, report: &Report) {
    let selected = &report.selection;
    let total = &selected.total;
    let mut title = match (selected.live_at, selected.live_at_seconds) {
        ("peak", Some(time)) => format!("Live at the peak, after {}", seconds(time)),
        ("end", _) => "Live at the end, never collected".into(),
        (_, Some(time)) => format!("Live after {}", seconds(time)),
        _ => String::new(),
    };
    let range = match (selected.allocated_from_seconds, selected.allocated_to_seconds) {
        (Some(from), Some(to)) => format!("allocated from {} to {}", seconds(from), seconds(to)),
        (Some(from), None) => format!("allocated from {} on", seconds(from)),
        (None, Some(to)) => format!("allocated until {}", seconds(to)),
        (None, None) if title.is_empty() => "allocated at any time".into(),
        (None, None) => String::new(),
    };
    if title.is_empty() {
        title = range[..1].to_uppercase() + &range[1..];
    } else if !range.is_empty() {
        title = format!("{title}, {range}");
    }
    let size = bytes_with_error(total.bytes, total.bytes_stderr);
    let title = format!("{title}: {size} in {} blocks", count(total.blocks));
    canvas.paragraph(STRONG, 2, &title);
    if total.samples == 0 {
        canvas.paragraph(PLAIN, 0, "No sampled block is among these.");
        return;
    }
    let what = match report.by {
        "site" => "call site that allocated",
        "function" => "function that allocated",
        "module" => "module that allocated",
        _ => "file that allocated",
    };
    let header = format!("{:>2}  {:>6}  {:>14}  {:>7}  {what}", "", "share", "size", "blocks");
    canvas.line(&[(FAINT, &header)]);
    for (index, entry) in report.places.iter().enumerate() {
        place(canvas, report, index + 1, entry);
    }
    if report.other_places > 0 {
        let amount = &report.other;
        let size = bytes_with_error(amount.bytes, amount.bytes_stderr);
        let share = percent(ratio(amount.bytes, total.bytes));
        let blocks = count(amount.blocks);
        let plural = if report.other_places == 1 { "place" } else { "places" };
        let places = format!("{} other {plural}", grouped(report.other_places as u64));
        let line = format!("{:>2}  {share:>6}  {size:>14}  {blocks:>7}  {places}", "");
        canvas.line(&[(FAINT, &line)]);
    }
}

fn place(canvas: &mut Canvas, report: &Report, rank: usize, place: &Place) {
    let amount = &place.amount;
    let numbers = format!(
        "{rank:>2}  {:>6}  {:>14}  {:>7}  ",
        percent(place.share),
        bytes_with_error(amount.bytes, amount.bytes_stderr),
        count(amount.blocks),
    );
    let room = canvas.width().saturating_sub(NAME.max(columns(&numbers)));
    if room >= LEAST_NAME {
        let (name, at) = name_and_position(place, room);
        canvas.line(&[(PLAIN, &numbers), (STRONG, &name), (FAINT, &at)]);
    } else {
        let (name, at) = name_and_position(place, canvas.width().saturating_sub(4));
        canvas.line(&[(PLAIN, numbers.trim_end())]);
        canvas.line(&[(PLAIN, "    "), (STRONG, &name), (FAINT, &at)]);
    }

    let mut facts = Vec::new();
    if report.selection.live_at != "end" {
        facts.push(format!("{} never collected", percent(place.never_collected_share)));
    }
    let age = if report.selection.live_at == "any" { "mean lifetime" } else { "mean age" };
    facts.push(format!("{age} {}", seconds(place.mean_age_seconds)));
    facts.push(format!("{} a block", bytes(ratio(amount.bytes, amount.blocks))));
    let bars = sparkline::line(&place.bytes_by_tenth_of_time);
    let facts = format!("    {bars} {}", facts.join(", "));
    canvas.line(&[(FAINT, &facts)]);
    chain::draw(canvas, &place.callers, 0);
}

/// The name of a place and ` file:line`, in `room` columns.
fn name_and_position(place: &Place, room: usize) -> (String, String) {
    let name = clean(&place.name).into_owned();
    let Some((file, line)) = place.file.as_deref().zip(place.line) else {
        let name =
            if place.file.is_some() { elide_start(&name, room) } else { elide_middle(&name, room) };
        return (name, String::new());
    };
    let file = clean(file);
    let whole = format!("  {file}:{line}");
    if columns(&name) + columns(&whole) <= room {
        return (name, whole);
    }
    let short = format!("  {}:{line}", file.rsplit('/').next().unwrap_or(&file));
    let short = if columns(&short) * 2 > room {
        format!("  {}", elide_start(short.trim_start(), (room / 2).saturating_sub(2)))
    } else {
        short
    };
    (elide_middle(&name, room.saturating_sub(columns(&short))), short)
}

fn closing(canvas: &mut Canvas, report: &Report) {
    let (mut recursive, mut lines_differ) = (false, false);
    for place in &report.places {
        look_for_signs(&place.callers, &mut recursive, &mut lines_differ);
    }
    let mut legend = Vec::new();
    if !report.places.is_empty() {
        legend.push("▁▂▃ when it was allocated, by tenth of the time");
    }
    if report.places.iter().any(|place| !place.callers.is_empty()) {
        legend.push("← called by, function:line");
    }
    if lines_differ {
        legend.push("+ other lines too");
    }
    if recursive {
        legend.push("↻ recursive");
    }
    canvas.gap();
    if !legend.is_empty() {
        // No line ends inside an entry.
        let entries: Vec<String> =
            legend.iter().map(|entry| entry.replace(' ', "\u{A0}")).collect();
        canvas.paragraph(FAINT, 0, &entries.join(" · "));
    }
    let selected = &report.selection;
    let ranged =
        selected.allocated_from_seconds.is_some() || selected.allocated_to_seconds.is_some();
    let live = matches!(selected.live_at, "peak" | "end");
    if live && !ranged && selected.never_collected_share > 0.02 {
        canvas.paragraph(
            FAINT,
            0,
            "a leak? `--live-at end --allocated 10%..90%` shows what was allocated neither at the \
             start nor just before the end, and was never collected",
        );
    }
}

fn look_for_signs(chains: &[CallerChain], recursive: &mut bool, lines_differ: &mut bool) {
    for chain in chains {
        for frame in &chain.chain {
            *recursive |= frame.recursive;
            *lines_differ |= frame.lines_differ;
        }
        look_for_signs(&chain.branches, recursive, lines_differ);
    }
}

fn warnings(canvas: &mut Canvas, recording: &Recording, report: &Report) {
    if let Some(description) = &recording.description {
        let trace = &description.trace;
        match (&description.outcome, trace.state) {
            (_, FileState::Cut) => {
                warn(canvas, "the program died without a word: its last second may be missing");
            }
            (Some(Outcome::GaveWay), _) => warn(
                canvas,
                "the recording ends where the program started a Gc.Memprof profile of its own",
            ),
            (Some(Outcome::WriteFailed { errno }), _) => {
                let error = std::io::Error::from_raw_os_error(*errno);
                warn(canvas, &format!("the recording ends where writing failed: {error}"));
            }
            (None, FileState::Growing) => {
                warn(canvas, "the recording still grows: this is what it holds so far");
            }
            _ => {}
        }
        for note in &description.notes {
            warn(canvas, note);
        }
        if trace.lost > 0 {
            let lost = grouped(trace.lost);
            warn(canvas, &format!("{lost} samples could not be written: figures are too low"));
        }
    }
    let anomalies = report.anomalies.damage + report.anomalies.inconsistent_events;
    if anomalies > 0 {
        let plural = if anomalies == 1 { "anomaly" } else { "anomalies" };
        let number = grouped(anomalies);
        warn(canvas, &format!("{number} {plural} in the trace; `memtrail trace info` lists them"));
    }
}

fn warn(canvas: &mut Canvas, text: &str) {
    canvas.paragraph(WARNING, 2, text);
}
