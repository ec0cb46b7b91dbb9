//! The picture of live memory over time.

use memtrail_order::SortRows as _;
use memtrail_profile::report::Report;
use memtrail_text::rounded::{bytes, percent, ratio, seconds};

use super::sparkline;
use crate::canvas::{CURVE, Canvas, FAINT, PLAIN, columns};

/// Lines of the picture of live memory.
const ROWS: usize = 3;

/// How many columns the picture of live memory has.
pub(super) fn points(width: usize) -> usize {
    width.saturating_sub(2).max(1)
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
    kinds.sort_rows_by(|a, b| b.1.total_cmp(&a.1));
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

/// Draws it, with its axis and the place of the peak.
pub(super) fn draw(canvas: &mut Canvas, report: &Report) {
    let values: Vec<f64> = report.timeline.iter().map(|point| point.most_bytes).collect();
    let title = "live memory";
    let caption =
        format!(" over time, up to {}{}", report.caveats.mark(), bytes(report.totals.peak.bytes));
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
