//! How often the garbage collector ran, and for how long: the recording's file `collections`.

use memtrail_recording::Recording;
use memtrail_recording::collections::summary::{Part, Span, Summary};
use memtrail_recording::collections::{COLLECTIONS_FILE, parse};
use memtrail_text::rounded::{grouped, percent, ratio, seconds};

use super::memory::MAX_MOMENTS;
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG};

/// What the recording's file says; none if it has none, or is of several processes.
pub(crate) fn of(recording: &Recording) -> Option<Summary> {
    if recording.is_merged() || recording.description.is_none() {
        return None;
    }
    let file = std::fs::read(recording.path.join(COLLECTIONS_FILE)).ok()?;
    // What is before an unreadable line is right all the same.
    Summary::new(&parse(&file).0, MAX_MOMENTS)
}

/// A few lines, for people.
pub(crate) fn draw(canvas: &mut Canvas, summary: &Summary) {
    let whole = &summary.whole;
    let share = |time: f64| percent(ratio(time, whole.to));
    if whole.replaced {
        canvas.line(&[(PLAIN, "time in GC        not measured"), (FAINT, &cycles(whole))]);
        let why =
            "the program has put hooks of its own around its collector, in the place of memtrail's";
        canvas.paragraph(FAINT, 2, why);
        canvas.gap();
        return;
    }
    let total = format!("{:>14}", seconds(whole.seconds));
    canvas.line(&[
        (PLAIN, "time in GC      "),
        (STRONG, &total),
        (PLAIN, &format!("{:>7}", percent(whole.share))),
        (FAINT, &cycles(whole)),
    ]);
    for (number, time, name) in [
        (whole.minor_collections, whole.minor_seconds, "minor collections"),
        (whole.slices, whole.slice_seconds, "slices of the major collection"),
    ] {
        let (share, number) = (share(time), grouped(number));
        let text = format!("{:>30}{share:>7}  {number} {name}", seconds(time));
        canvas.line(&[(PLAIN, &text)]);
    }
    let pauses = whole.longest.iter().map(|pause| {
        format!("{} at {} ({})", seconds(pause.seconds), seconds(pause.at), name(pause.part))
    });
    let pauses: Vec<String> = pauses.collect();
    if !pauses.is_empty() {
        canvas.item(PLAIN, "  ", 4, &format!("longest pauses: {}", pauses.join(", ")));
    }
    canvas.gap();
}

/// A part of the collector, in words.
pub(crate) fn name(part: Part) -> &'static str {
    match part {
        Part::Minor => "minor collection",
        Part::Slice => "slice",
    }
}

fn cycles(whole: &Span) -> String {
    let some = |number: Option<u64>, one: &str, many: &str| {
        number.map(|number| format!("{number} {}", if number == 1 { one } else { many }))
    };
    let cycles = some(whole.major_cycles, "major cycle", "major cycles");
    let compactions = some(whole.compactions.filter(|&n| n > 0), "compaction", "compactions");
    let known: Vec<String> = [cycles, compactions].into_iter().flatten().collect();
    if known.is_empty() { String::new() } else { format!("  {}", known.join(", ")) }
}
