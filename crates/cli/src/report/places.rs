//! The places that allocated, and who called them.

use memtrail_profile::report::{CallerChain, Place, Report};
use memtrail_stats::FEW_SAMPLES;
use memtrail_text::rounded::{bytes, count, grouped, percent, ratio, seconds};

use super::{chain, sparkline};
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG, clean, columns, elide_middle, elide_start};

/// Columns before the name of a place.
const NAME: usize = 37;
/// Where a name would have fewer columns than that, it has a line of its own.
const LEAST_NAME: usize = 24;

/// The blocks that the list is about, and how many they are.
pub(super) fn title(report: &Report) -> String {
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
    let mark = report.caveats.mark();
    let size = total.bytes_estimate().size();
    format!("{title}: {mark}{size} in {mark}{} blocks", count(total.blocks))
}

/// The heading of the column of places.
pub(super) fn column(report: &Report) -> &'static str {
    match report.by {
        "site" => "call site that allocated",
        "function" => "function that allocated",
        "module" => "module that allocated",
        _ => "file that allocated",
    }
}

/// Draws the list, under a line that says which blocks it is about.
pub(super) fn draw(canvas: &mut Canvas, report: &Report, is_family: bool) {
    let total = &report.selection.total;
    let mark = report.caveats.mark();
    canvas.paragraph(STRONG, 2, &title(report));
    if total.samples == 0 {
        canvas.paragraph(PLAIN, 0, "No sampled block is among these.");
        return;
    }
    let what = column(report);
    let header = format!("{:>2}  {:>6}  {:>14}  {:>7}  {what}", "", "share", "size", "blocks");
    canvas.line(&[(FAINT, &header)]);
    for (index, entry) in report.places.iter().enumerate() {
        place(canvas, (report, is_family), index + 1, entry);
    }
    if report.other_places > 0 {
        let amount = &report.other;
        let size = format!("{mark}{}", amount.bytes_estimate().size());
        let share = percent(ratio(amount.bytes, total.bytes));
        let blocks = format!("{mark}{}", count(amount.blocks));
        let plural = if report.other_places == 1 { "place" } else { "places" };
        let places = format!("{} other {plural}", grouped(report.other_places as u64));
        let line = format!("{:>2}  {share:>6}  {size:>14}  {blocks:>7}  {places}", "");
        canvas.line(&[(FAINT, &line)]);
    }
}

fn place(canvas: &mut Canvas, (report, is_family): (&Report, bool), rank: usize, place: &Place) {
    let (amount, mark) = (&place.amount, report.caveats.mark());
    let numbers = format!(
        "{rank:>2}  {:>6}  {:>14}  {:>7}  ",
        percent(place.share),
        format!("{mark}{}", amount.bytes_estimate().size()),
        format!("{mark}{}", count(amount.blocks)),
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
    // In a family, the memory of each process is freed as it ends.
    if report.selection.live_at != "end" && !is_family {
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
    let Some(file) = place.file.as_deref().filter(|_| place.function.is_some()) else {
        let name =
            if place.file.is_some() { elide_start(&name, room) } else { elide_middle(&name, room) };
        return (name, String::new());
    };
    let file = clean(file);
    let line = place.line.map_or_else(String::new, |line| format!(":{line}"));
    let whole = format!("  {file}{line}");
    if columns(&name) + columns(&whole) <= room {
        return (name, whole);
    }
    let short = format!("  {}{line}", file.rsplit('/').next().unwrap_or(&file));
    let short = if columns(&short) * 2 > room {
        format!("  {}", elide_start(short.trim_start(), (room / 2).saturating_sub(2)))
    } else {
        short
    };
    (elide_middle(&name, room.saturating_sub(columns(&short))), short)
}

/// Says what the signs mean, and what to ask next.
pub(super) fn explain(canvas: &mut Canvas, report: &Report) {
    let (mut recursive, mut lines_differ) = (false, false);
    for place in &report.places {
        look_for_signs(&place.callers, &mut recursive, &mut lines_differ);
    }
    let unseen;
    let mut legend = Vec::new();
    if !report.places.is_empty() && report.trace.samples_per_word < 1.0 {
        if report.places.iter().any(|place| place.amount.bytes_estimate().samples() < FEW_SAMPLES) {
            legend.push("a–b 95 % confidence interval");
        }
        unseen = format!("a site without a sample: < {}", bytes(report.trace.unseen_bytes()));
        legend.push(&unseen);
    }
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
