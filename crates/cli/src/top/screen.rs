//! Figures and choices as cells of the terminal.
//!
//! From the top: what is watched and how it is, its memory, the names of the tables, the table, and what can be done.
//! Columns that have no room are left out, from the right; the text keeps the most of it.

use std::time::Instant;

use memtrail_text::rounded::{bytes, percent, seconds};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use super::family::FamilyFigures;
use super::figures::Figures;
use super::keys::HELP;
use super::state::{State, Tab};
use super::table::{GAP, Table, fitting, rate, signed};
use super::watched::Shown;
use crate::canvas::{clean, columns, elide_end, elide_middle};

const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
const FAINT: Style = Style::new().add_modifier(Modifier::DIM);
const REVERSED: Style = Style::new().add_modifier(Modifier::REVERSED);
const WARNING: Style = Style::new().fg(Color::Yellow);

/// Draws everything. `rows_shown` becomes the number of rows that have room; `state.skipped` is made to fit.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    shown: Shown<'_>,
    state: &mut State,
    rows_shown: &mut usize,
) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    let mut lines = Lines { buffer, area, next: 0, end: area.height };
    footer(&mut lines, state);
    header(&mut lines, shown);
    tabs(&mut lines, state);
    if state.is_help {
        help(&mut lines);
        return;
    }
    let table = Table::new(shown, state);
    for note in &table.notes {
        lines.put(&Line::styled(elide_end(&clean(note), lines.width()), FAINT));
    }
    rows(&mut lines, &table, state, rows_shown);
}

/// The lines of the screen that are still empty.
struct Lines<'b> {
    buffer: &'b mut Buffer,
    area: Rect,
    next: u16,
    end: u16,
}

impl Lines<'_> {
    fn width(&self) -> usize {
        usize::from(self.area.width)
    }

    fn left(&self) -> usize {
        usize::from(self.end.saturating_sub(self.next))
    }

    /// Fills the first of them.
    fn put(&mut self, line: &Line<'_>) {
        if self.next < self.end {
            let area = self.area;
            self.buffer.set_line(area.x, area.y + self.next, line, area.width);
            self.next += 1;
        }
    }

    /// Fills the last of them.
    fn put_last(&mut self, line: &Line<'_>) {
        if self.next < self.end {
            self.end -= 1;
            let area = self.area;
            self.buffer.set_line(area.x, area.y + self.end, line, area.width);
        }
    }

    /// As many of these parts in a line as have room, with two spaces between them.
    fn parts(&mut self, parts: Vec<Span<'_>>) {
        let mut left = self.width();
        let mut spans: Vec<Span<'_>> = Vec::new();
        for part in parts.into_iter().filter(|part| !part.content.is_empty()) {
            let before = if spans.is_empty() { 0 } else { GAP };
            let wanted = before + columns(&part.content);
            if wanted > left {
                if spans.is_empty() {
                    spans.push(Span::styled(elide_end(&part.content, left), part.style));
                }
                break;
            }
            left -= wanted;
            if before > 0 {
                spans.push(Span::raw(" ".repeat(before)));
            }
            spans.push(part);
        }
        self.put(&Line::from(spans));
    }
}

fn header(lines: &mut Lines<'_>, shown: Shown<'_>) {
    let Shown { figures, family } = shown;
    let live = &figures.live;
    let pid = figures.pid.map_or_else(String::new, |pid| format!(" ({pid})"));
    let style = if figures.is_running() { Style::new() } else { WARNING };
    let program = clean(figures.program()).into_owned();
    lines.parts(vec![
        Span::styled(format!("{program}{pid}"), STRONG),
        Span::raw(seconds(live.at)),
        Span::styled(family.map_or_else(|| figures.status(), FamilyFigures::status), style),
    ]);
    let rss = figures.process.and_then(|process| process.rss);
    lines.parts(vec![
        Span::raw(format!("live {}", live.all.live.size())),
        Span::raw(format!(
            "{} in {}",
            signed(live.all.change.value, live.all.change.stderr),
            seconds(live.window)
        )),
        Span::raw(rss.map_or_else(String::new, |rss| format!("RSS {}", bytes(rss as f64)))),
        Span::raw(format!("allocates {}", rate(figures.per_second(live.all.allocated.value)))),
        Span::raw(last_snapshot(figures)),
    ]);
}

fn last_snapshot(figures: &Figures) -> String {
    let Some(last) = figures.snapshots.last() else { return String::new() };
    let ago = last.at.map_or_else(String::new, |at| {
        format!(", {} ago", seconds((figures.live.at - at).max(0.0).round()))
    });
    format!("snapshot {}{ago}", last.number)
}

fn tabs(lines: &mut Lines<'_>, state: &State) {
    let mut spans: Vec<Span<'_>> = Vec::new();
    for (number, tab) in (1..).zip(state.tabs()) {
        let style = if *tab == state.tab { REVERSED } else { FAINT };
        spans.push(Span::styled(format!(" {number} {} ", tab.name()), style));
    }
    if state.is_typing {
        spans.push(Span::styled(format!(" /{}▏", state.filter), STRONG));
    } else if !state.filter.is_empty() {
        spans.push(Span::styled(format!(" /{}", state.filter), STRONG));
    }
    lines.put(&Line::from(spans));
}

fn footer(lines: &mut Lines<'_>, state: &State) {
    if let Some(message) = state.message(Instant::now()) {
        // Addresses are copied from here: all of it is shown, in as many lines as that takes.
        let letters: Vec<char> = clean(message).chars().collect();
        let chunks: Vec<String> =
            letters.chunks(lines.width().max(1)).map(|part| part.iter().collect()).collect();
        for chunk in chunks.iter().take(lines.left() / 2).rev() {
            lines.put_last(&Line::styled(chunk.as_str(), WARNING));
        }
        return;
    }
    let process = match (state.opened, state.tab) {
        (Some(_), _) => "Esc all processes",
        (None, Tab::Processes) => "Enter one process",
        _ => "",
    };
    let keys = ["q quit", "? help", process, "s snapshot", "v viewer", "/ filter", "←→ sort"];
    let mut text = String::new();
    for key in keys.into_iter().filter(|key| !key.is_empty()) {
        if columns(&text) + GAP + columns(key) <= lines.width() {
            text = if text.is_empty() { key.to_owned() } else { format!("{text}  {key}") };
        }
    }
    lines.put_last(&Line::styled(text, FAINT));
}

fn help(lines: &mut Lines<'_>) {
    let widest = HELP.iter().map(|(keys, _)| columns(keys)).max().unwrap_or(0);
    for (keys, what) in HELP {
        let pad = " ".repeat(widest - columns(keys) + GAP);
        let room = lines.width().saturating_sub(widest + GAP);
        lines.put(&Line::from(vec![
            Span::styled(keys, STRONG),
            Span::raw(pad),
            Span::raw(elide_end(what, room)),
        ]));
    }
}

fn rows(lines: &mut Lines<'_>, table: &Table, state: &mut State, rows_shown: &mut usize) {
    let room = lines.left().saturating_sub(1);
    *rows_shown = room.max(1);
    let marked = mark(table, state, *rows_shown);
    state.skipped = state.skipped.min(table.rows.len().saturating_sub(room));
    let shown = &table.rows[state.skipped..table.rows.len().min(state.skipped + room)];
    let headings: Vec<String> =
        (0..table.headings.len()).map(|column| heading(table, column)).collect();
    let widths: Vec<usize> = headings
        .iter()
        .enumerate()
        .map(|(column, heading)| {
            let figures = shown.iter().filter_map(|(figures, _)| figures.get(column));
            figures.map(|figure| columns(figure)).max().unwrap_or(0).max(columns(heading))
        })
        .collect();
    let fitting = fitting(&widths, lines.width());
    let before: usize = widths[..fitting].iter().map(|width| width + GAP).sum();
    let text_room = lines.width().saturating_sub(before);
    let text = heading(table, table.headings.len());
    let mut put = |figures: &[String], text: &str, style: Style| {
        let mut line = String::new();
        for (width, figure) in widths[..fitting].iter().zip(figures) {
            line += &" ".repeat(width.saturating_sub(columns(figure)));
            line += figure;
            line += &" ".repeat(GAP);
        }
        line += &elide_middle(text, text_room);
        lines.put(&Line::styled(line, style));
    };
    if table.headings.is_empty() {
        return;
    }
    put(&headings, &text, STRONG);
    for (row, (figures, text)) in (state.skipped..).zip(shown) {
        put(figures, text, if marked == Some(row) { REVERSED } else { Style::new() });
    }
    if table.rows.is_empty() {
        let nothing = if state.filter.is_empty() { "nothing yet" } else { "no name has this text" };
        lines.put(&Line::styled(elide_end(nothing, lines.width()), FAINT));
    } else if table.rows.len() > shown.len() && lines.left() > 0 {
        let part = (state.skipped + shown.len()) as f64 / table.rows.len() as f64;
        lines.put(&Line::styled(percent(part), FAINT));
    }
}

/// The row that is marked, which is brought into view. If its process is not in the table, the first is.
fn mark(table: &Table, state: &mut State, rows_shown: usize) -> Option<usize> {
    state.processes.clone_from(&table.processes);
    let row = table.processes.iter().position(|number| Some(*number) == state.marked).unwrap_or(0);
    state.marked = Some(*table.processes.get(row)?);
    state.skipped = state.skipped.clamp((row + 1).saturating_sub(rows_shown), row);
    Some(row)
}

/// The heading of a column, with the direction of the order if rows are in its.
fn heading(table: &Table, column: usize) -> String {
    let name = table.headings.get(column).copied().unwrap_or(table.text);
    match table.order {
        Some(order) if order.column == column => {
            format!("{name}{}", if order.descending { "▼" } else { "▲" })
        }
        _ => name.to_owned(),
    }
}
