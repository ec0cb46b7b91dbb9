//! Columns of figures with a text behind them, no wider than the terminal. Figures, names and positions are never cut: texts go on
//! in further lines.

use anstyle::Style;
use memtrail_heap::Bytes;
use memtrail_text::rounded::bytes;

use super::title::Title;
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG, clean, columns, wrapped};

/// A size outside the heap, which most things have none of.
pub(crate) fn outside(size: Bytes) -> String {
    if size.0 == 0 { String::new() } else { bytes(size.0 as f64) }
}

/// Blocks and bytes of what nothing retains, of a damaged snapshot.
pub(crate) fn unknown_dead() -> Vec<String> {
    vec!["?".into(), "unknown".into()]
}

/// Columns that a text should have at least; with less, it gets a line of its own.
const ROOM: usize = 32;
/// Spaces before a text on lines of its own.
const INDENT: usize = 4;
/// Spaces before further lines of a text.
const FURTHER: usize = 2;

/// Rows of right-aligned figures, each with a text.
pub(crate) struct Table {
    rows: Vec<Row>,
}

struct Row {
    figures: Vec<String>,
    text: Text,
    style: Style,
}

/// What stands behind the figures.
pub(crate) enum Text {
    Plain(String),
    Variable(Title),
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::Plain(text)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::Plain(text.to_owned())
    }
}

impl From<Title> for Text {
    fn from(Title { name, ty, position }: Title) -> Self {
        let clean = |text: &String| clean(text).into_owned();
        Self::Variable(Title {
            name: clean(&name),
            ty: ty.as_ref().map(clean),
            position: position.as_ref().map(clean),
        })
    }
}

impl Text {
    /// In lines: the first of at most `first` columns, others of at most `next`.
    fn lines(&self, first: usize, next: usize) -> Vec<String> {
        match self {
            Self::Plain(text) => {
                let text = clean(text);
                // A line that belongs to the row above begins with spaces.
                let indent = " ".repeat(text.len() - text.trim_start().len());
                let next = next.saturating_sub(indent.len()).max(1);
                let mut lines = wrapped(&text, first, next);
                for line in lines.iter_mut().skip(1) {
                    line.insert_str(0, &indent);
                }
                lines
            }
            Self::Variable(title) => title.lines(first, next),
        }
    }
}

impl Table {
    /// A table with these headings.
    pub(crate) fn new(headings: &[&str], text: &str) -> Self {
        let figures = headings.iter().map(|heading| (*heading).to_owned()).collect();
        Self { rows: vec![Row { figures, text: text.into(), style: FAINT }] }
    }

    pub(crate) fn row(&mut self, figures: Vec<String>, text: impl Into<Text>) {
        self.rows.push(Row { figures, text: text.into(), style: PLAIN });
    }

    /// A row that stands out.
    pub(crate) fn strong(&mut self, figures: Vec<String>, text: impl Into<Text>) {
        self.rows.push(Row { figures, text: text.into(), style: STRONG });
    }

    /// A row that explains others.
    pub(crate) fn faint(&mut self, figures: Vec<String>, text: impl Into<Text>) {
        self.rows.push(Row { figures, text: text.into(), style: FAINT });
    }

    /// Adds the rows. Columns in which nothing stands but the heading are left out.
    pub(crate) fn print(&self, canvas: &mut Canvas) {
        let count = self.rows.iter().map(|row| row.figures.len()).max().unwrap_or(0);
        let width = |column: usize| {
            let texts = || self.rows.iter().map(move |row| row.figures.get(column));
            let used = texts().skip(1).flatten().any(|figure| !figure.is_empty());
            let widest = texts().flatten().map(|figure| columns(figure)).max();
            if used { widest.unwrap_or(0) } else { 0 }
        };
        let widths: Vec<usize> = (0..count).map(width).collect();
        let before: usize = widths.iter().filter(|width| **width > 0).map(|width| width + 2).sum();
        let width = canvas.limit();
        let room = width.saturating_sub(before);
        for row in &self.rows {
            let mut line = String::new();
            for (column, width) in widths.iter().enumerate().filter(|(_, width)| **width > 0) {
                let figure = row.figures.get(column).map_or("", String::as_str);
                line.push_str(&" ".repeat(width.saturating_sub(columns(figure))));
                line.push_str(figure);
                line.push_str("  ");
            }
            let whole = row.text.lines(usize::MAX, usize::MAX).concat();
            if whole.is_empty() {
                canvas.line(&[(row.style, line.trim_end())]);
                continue;
            }
            if columns(&whole) > room && room < ROOM {
                if !line.trim().is_empty() {
                    canvas.line(&[(row.style, line.trim_end())]);
                }
                let indent = " ".repeat(INDENT);
                for text in row.text.lines(width - INDENT, width - INDENT) {
                    canvas.line(&[(PLAIN, &indent), (row.style, &text)]);
                }
                continue;
            }
            let further = " ".repeat(before + FURTHER);
            for (place, text) in
                row.text.lines(room, room.saturating_sub(FURTHER)).iter().enumerate()
            {
                let start = if place == 0 { &line } else { &further };
                canvas.line(&[(row.style, start), (row.style, text)]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;

    fn printed(width: usize) -> String {
        let mut table = Table::new(&["retained", "", "empty"], "root");
        let figures = |size: &str| vec![size.to_owned(), "1 %".into(), String::new()];
        table.row(figures("1.5 MiB"), "Module.with_a_name_that_is_long_enough_to_be_cut");
        table.strong(figures("1 B"), "M");
        let mut canvas = Canvas::new(width);
        table.print(&mut canvas);
        strip_str(&canvas.finish()).to_string()
    }

    #[test]
    fn figures_stand_below_each_other_and_empty_columns_are_left_out() {
        assert_eq!(
            printed(80),
            "retained       root\n \
              1.5 MiB  1 %  Module.with_a_name_that_is_long_enough_to_be_cut\n     \
                  1 B  1 %  M\n"
        );
    }

    #[test]
    fn long_names_go_on_in_further_lines() {
        assert_eq!(
            printed(50),
            "retained       root\n \
              1.5 MiB  1 %  Module.with_a_name_that_is_long_\n                 \
                 enough_to_be_cut\n     \
                  1 B  1 %  M\n"
        );
        assert_eq!(
            printed(30),
            "retained       root\n \
              1.5 MiB  1 %\n    \
                 Module.with_a_name_that_\n    \
                 is_long_enough_to_be_cut\n     \
                  1 B  1 %  M\n"
        );
    }
}
