//! Columns of figures with a text behind them.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr as _;

/// Rows of right-aligned figures, each with a text.
pub(super) struct Table {
    rows: Vec<(Vec<String>, String)>,
}

impl Table {
    /// A table with these headings.
    pub(super) fn new(headings: &[&str], text: &str) -> Self {
        let headings = headings.iter().map(|heading| (*heading).to_owned()).collect();
        Self { rows: vec![(headings, text.to_owned())] }
    }

    pub(super) fn row(&mut self, figures: Vec<String>, text: impl Into<String>) {
        self.rows.push((figures, text.into()));
    }

    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = self.rows.iter().map(|(figures, _)| figures.len()).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|(figures, _)| Some(figures.get(column)?.width()))
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (figures, text) in &self.rows {
            for (figure, width) in figures.iter().zip(&widths) {
                write!(out, "{}{figure}  ", " ".repeat(width.saturating_sub(figure.width())))?;
            }
            writeln!(out, "{text}")?;
        }
        Ok(())
    }
}
