//! Figures as rows of text, in the order and with the filter that the user chose.

use std::cmp::Ordering;
use std::path::Path;

use memtrail_engine::LiveSite;
use memtrail_engine::heap::{OwnerChange, OwnerChanges, SnapshotRow};
use memtrail_heap::query::with_held;
use memtrail_order::SortRows as _;
use memtrail_text::rounded::{bytes, bytes_with_error, count, grouped, percent, seconds};

use super::family::{FamilyFigures, ProcessRow};
use super::figures::Figures;
use super::state::{Medium, Order, State, Tab};
use super::watched::Shown;
use crate::canvas::{clean, columns};
use crate::heap::sites::place;
use crate::heap::table::outside;
use crate::shell_quote;

/// Columns of the terminal that a text should have at least; for less, a figure is left out.
const ROOM: usize = 18;
/// Between two columns.
pub(super) const GAP: usize = 2;

/// A table: columns of figures with a text behind them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    /// Of the figures.
    pub(super) headings: Vec<&'static str>,
    /// Of the text.
    pub(super) text: &'static str,
    /// Figures and text of each row.
    pub(super) rows: Vec<(Vec<String>, String)>,
    /// What is said above the rows.
    pub(super) notes: Vec<String>,
    /// The column that rows are in the order of; that behind the figures is the text.
    pub(super) order: Option<Order>,
    /// The numbers of the processes that rows are about, if they are.
    pub(super) processes: Vec<usize>,
}

impl Table {
    /// The table that the user chose.
    pub(super) fn new(shown: Shown<'_>, state: &State) -> Self {
        let Shown { figures, family } = shown;
        match (state.tab, family) {
            (Tab::Processes, Some(family)) => processes(family, state),
            (Tab::Sites | Tab::Processes, _) => sites(figures, state),
            (Tab::Owners, _) => owners(figures, state),
            (Tab::Gc, _) => collector(figures),
        }
    }

    /// Of the columns of figures, with so many rows.
    pub(super) fn widths(&self, rows: usize) -> Vec<usize> {
        let width = |(column, heading): (usize, &&str)| {
            let figures =
                self.rows.iter().take(rows).filter_map(|(figures, _)| figures.get(column));
            figures.map(|figure| columns(figure)).max().unwrap_or(0).max(columns(heading))
        };
        self.headings.iter().enumerate().map(width).collect()
    }
}

fn processes(family: &FamilyFigures, state: &State) -> Table {
    let mut shown: Vec<(usize, &ProcessRow)> = family.processes.iter().enumerate().collect();
    shown.retain(|(_, row)| state.keeps(&process(row)));
    let order = state.order();
    sort(&mut shown, order, |(_, a), (_, b)| match order.column {
        0 => a.figures.live.value.total_cmp(&b.figures.live.value),
        1 => a.allocated_per_second.total_cmp(&b.allocated_per_second),
        2 => a.rss.cmp(&b.rss),
        3 => a.figures.change.value.total_cmp(&b.figures.change.value),
        4 => a.generation.cmp(&b.generation),
        _ => a.program.cmp(&b.program).then(a.pid.cmp(&b.pid)),
    });
    let rows = shown.iter().map(|(_, row)| {
        let of = &row.figures;
        let texts = vec![
            of.live.size(),
            rate(row.allocated_per_second),
            row.rss.map_or_else(String::new, |rss| bytes(rss as f64)),
            signed(of.change.value, of.change.stderr),
            row.generation.to_string(),
        ];
        (texts, process(row))
    });
    Table {
        headings: vec!["live", "allocated", "RSS", "change", "generation"],
        text: "process",
        rows: rows.collect(),
        notes: family.notes(),
        order: Some(order),
        processes: shown.iter().map(|(number, _)| *number).collect(),
    }
}

/// What a process is shown as: `make (4711)`, and how it is if it does not run.
fn process(row: &ProcessRow) -> String {
    let pid = row.pid.map_or_else(String::new, |pid| format!(" ({pid})"));
    let status = if row.running { String::new() } else { format!(", {}", row.status) };
    clean(&format!("{}{pid}{status}", row.program)).into_owned()
}

fn sites(figures: &Figures, state: &State) -> Table {
    let mut shown: Vec<&LiveSite> =
        figures.live.rows.iter().filter(|row| state.keeps(&name(row))).collect();
    let order = state.order();
    sort(&mut shown, order, |a, b| {
        let (a_figures, b_figures) = (&a.figures, &b.figures);
        match order.column {
            0 => a_figures.live.value.total_cmp(&b_figures.live.value),
            1 => a_figures.change.value.total_cmp(&b_figures.change.value),
            2 => a_figures.allocated.value.total_cmp(&b_figures.allocated.value),
            3 => a_figures.age.unwrap_or(-1.0).total_cmp(&b_figures.age.unwrap_or(-1.0)),
            4 => a_figures.blocks.value.total_cmp(&b_figures.blocks.value),
            _ => a.name.cmp(&b.name).then(a.line.cmp(&b.line)),
        }
    });
    let rows = shown.into_iter().map(|row| {
        let of = &row.figures;
        let texts = vec![
            of.live.size(),
            signed(of.change.value, of.change.stderr),
            rate(figures.per_second(of.allocated.value)),
            of.age.map_or_else(String::new, seconds),
            count(of.blocks.value),
        ];
        (texts, name(row))
    });
    let mut notes = Vec::new();
    let left_out = figures.live.count.saturating_sub(figures.live.rows.len());
    if left_out > 0 {
        notes.push(format!("{} smaller rows are left out", grouped(left_out as u64)));
    }
    Table {
        headings: vec!["live", "change", "allocated", "age", "blocks"],
        text: "allocated by",
        rows: rows.collect(),
        notes,
        order: Some(order),
        processes: Vec::new(),
    }
}

/// What a row is shown as.
fn name(row: &LiveSite) -> String {
    clean(&place(&row.name, row.file.as_deref(), row.line)).into_owned()
}

fn owners(figures: &Figures, state: &State) -> Table {
    let mut notes: Vec<String> = figures.no_owners.iter().cloned().collect();
    let Some(of) = &figures.owners else {
        if figures.is_native {
            notes.push(of_native(figures, state.medium));
        } else if figures.snapshots.is_empty() {
            notes.push(match &figures.no_snapshot {
                None => {
                    let take = how_to_take_one(figures.pid, state.medium);
                    format!("{take}: it shows what variables own")
                }
                Some(why) => format!("none can be taken: {why}"),
            });
        }
        return Table { notes, order: Some(state.order()), text: "owner", ..Table::default() };
    };
    notes.push(about(of));
    let mut shown: Vec<&OwnerChange> =
        of.rows.iter().filter(|row| state.keeps(&row.name)).collect();
    let order = state.order();
    sort(&mut shown, order, |a, b| match order.column {
        0 => a.size().cmp(&b.size()),
        1 => a.share.total_cmp(&b.share),
        2 => a.owned_external.cmp(&b.owned_external),
        3 => a.since_before.cmp(&b.since_before),
        4 => a.since_first.cmp(&b.since_first),
        _ => a.name.cmp(&b.name),
    });
    let change = |by: Option<i64>| by.map_or_else(String::new, |by| signed(by as f64, 0.0));
    let rows = shown.into_iter().map(|row| {
        let texts = vec![
            bytes(row.owned.0 as f64),
            percent(row.share),
            outside(row.owned_external),
            change(row.since_before),
            change(row.since_first),
        ];
        let ty = row.r#type.as_ref().map_or_else(String::new, |ty| format!(" : {ty}"));
        let position = row.position.as_ref().map_or_else(String::new, |at| format!("  {at}"));
        let name = with_held(&row.name, row.holds.as_deref());
        (texts, clean(&format!("{name}{ty}{position}")).into_owned())
    });
    Table {
        headings: vec!["owned", "share", "off-heap", "change", "since first"],
        text: "owner",
        rows: rows.collect(),
        notes,
        order: Some(order),
        processes: Vec::new(),
    }
}

/// The way to a first snapshot.
fn how_to_take_one(pid: Option<u32>, medium: Medium) -> String {
    match pid {
        _ if medium == Medium::Screen => "press s to take one".to_owned(),
        Some(pid) => format!("memtrail snapshot {pid} takes one"),
        None => "memtrail snapshot PID takes one".to_owned(),
    }
}

/// The last snapshot of a native program, or the way to a first one.
fn of_native(figures: &Figures, medium: Medium) -> String {
    let leaks =
        format!("memtrail leaks {} shows", shell_quote::path(Path::new(&figures.recording)));
    let about = "what refers to its memory";
    match (figures.references, &figures.no_snapshot) {
        (Some(number), _) => format!("snapshot {number}: {leaks} {about}"),
        (None, None) => {
            let take = how_to_take_one(figures.pid, medium);
            format!("no snapshot yet; {take}, and {leaks} {about}")
        }
        (None, Some(why)) => format!("no snapshot can be taken: {why}"),
    }
}

/// Which snapshots the owners' figures are of.
fn about(of: &OwnerChanges) -> String {
    if of.processes > 1 {
        let number = grouped(of.processes as u64);
        return format!("newest snapshots of {number} processes, the last at {}", seconds(of.at));
    }
    let mut text = format!("snapshot {} at {}", of.snapshot, seconds(of.at));
    if let Some(before) = of.before_at {
        text.push_str(", changes since ");
        text.push_str(&seconds(before));
    }
    if let Some(first) = of.first_at.filter(|first| of.before_at != Some(*first)) {
        text.push_str(" and ");
        text.push_str(&seconds(first));
    }
    text
}

fn collector(figures: &Figures) -> Table {
    let live = &figures.live;
    let part =
        |of: f64| if live.all.allocated.value > 0.0 { of / live.all.allocated.value } else { 0.0 };
    let mut notes = vec![
        format!(
            "allocated {}, in all {}",
            rate(figures.per_second(live.all.allocated.value)),
            live.total.size(),
        ),
        format!(
            "promoted {}, {} of that",
            rate(figures.per_second(live.promoted.value)),
            percent(part(live.promoted.value)),
        ),
        format!("freed {}", rate(figures.per_second(live.all.freed.value))),
    ];
    if let Some(process) = &figures.process {
        let parts = [
            ("RSS ", process.rss),
            ("at most ", process.peak_rss),
            ("in swap ", process.swap.filter(|swap| *swap > 0)),
        ];
        let mut parts: Vec<String> = parts
            .into_iter()
            .filter_map(|(name, size)| Some(format!("{name}{}", bytes(size? as f64))))
            .collect();
        parts.extend(process.threads.map(|threads| format!("{threads} threads")));
        notes.push(parts.join(", "));
    }
    if figures.is_native {
        notes.push("a native program has no collections".to_owned());
    } else if figures.snapshots.is_empty() {
        notes.push("no heap snapshot yet: collections are counted in snapshots".to_owned());
    }
    notes.extend(live.caveats.notes().into_iter().map(|note| format!("note: {note}")));
    let rows = figures.snapshots.iter().rev().map(|row| (snapshot(row), reason(row)));
    Table {
        headings: vec!["at", "live", "heap", "minor", "major", "pause"],
        text: "snapshot",
        rows: rows.collect(),
        notes,
        order: None,
        processes: Vec::new(),
    }
}

fn snapshot(row: &SnapshotRow) -> Vec<String> {
    let size = |bytes_of: u64| if bytes_of == 0 { String::new() } else { bytes(bytes_of as f64) };
    let number = |number: Option<u64>| number.map_or_else(String::new, grouped);
    vec![
        row.at.map_or_else(String::new, seconds),
        row.live.map_or_else(String::new, |live| size(live.0)),
        size(row.heap),
        number(row.minor),
        number(row.major),
        seconds(row.pause),
    ]
}

fn reason(row: &SnapshotRow) -> String {
    let label = row.label.as_ref().map_or_else(String::new, |label| format!(": {label}"));
    clean(&format!("{} ({}{label})", row.number, row.reason)).into_owned()
}

/// How many columns, from the left, leave room for the text. It gets a third of the width, where that is more.
pub(super) fn fitting(widths: &[usize], width: usize) -> usize {
    let room = ROOM.max(width * 7 / 20);
    let mut before = 0;
    let fits = |column: &&usize| {
        before += *column + GAP;
        before + room <= width
    };
    widths.iter().take_while(fits).count()
}

/// Sorts rows; those that are alike stay as they are.
fn sort<T>(rows: &mut [T], order: Order, compare: impl Fn(&T, &T) -> Ordering) {
    rows.sort_rows_by(|a, b| if order.descending { compare(b, a) } else { compare(a, b) });
}

/// `+1.2 MiB`, `−3 KiB`.
pub(super) fn signed(value: f64, stderr: f64) -> String {
    let text = bytes_with_error(value.abs(), stderr);
    match value {
        _ if value > 0.0 => format!("+{text}"),
        _ if value < 0.0 => format!("−{text}"),
        _ => text,
    }
}

/// `1.2 MiB/s`.
pub(super) fn rate(of: f64) -> String {
    format!("{}/s", bytes(of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_left_out_where_the_text_has_no_room() {
        let widths = [8, 8, 8];
        assert_eq!(fitting(&widths, 80), 3);
        assert_eq!(fitting(&widths, 40), 2);
        assert_eq!(fitting(&widths, 28), 1);
        assert_eq!(fitting(&widths, 27), 0);
        assert_eq!(fitting(&[], 0), 0);
        let sites = [15, 17, 12, 7, 8];
        assert_eq!(fitting(&sites, 80), 3, "the names have 28 columns");
        assert_eq!(fitting(&sites, 120), 5);
    }

    #[test]
    fn changes_have_signs() {
        assert_eq!(signed(1_572_864.0, 0.0), "+1.50 MiB");
        assert_eq!(signed(-2048.0, 512.0), "−2.00 ±0.50 KiB");
        assert_eq!(signed(0.0, 0.0), "0 B");
    }

    #[test]
    fn rows_are_sorted_both_ways_and_alike_ones_stay() {
        let mut rows = vec![(1, 'a'), (2, 'b'), (1, 'c')];
        let order = |descending| Order { column: 0, descending };
        sort(&mut rows, order(true), |a, b| a.0.cmp(&b.0));
        assert_eq!(rows, [(2, 'b'), (1, 'a'), (1, 'c')]);
        sort(&mut rows, order(false), |a, b| a.0.cmp(&b.0));
        assert_eq!(rows, [(1, 'a'), (1, 'c'), (2, 'b')]);
    }
}
