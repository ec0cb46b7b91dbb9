//! Markdown tables with aligned columns.

/// Rows of equal length, the first one the heading.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(heading: &[&str]) -> Table {
        Table { rows: vec![heading.iter().map(ToString::to_string).collect()] }
    }

    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// First column to the left, numbers to the right.
    pub(super) fn print(&self) {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (number, row) in self.rows.iter().enumerate() {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
                if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            println!("| {} |", cells.collect::<Vec<_>>().join(" | "));
            if number == 0 {
                let rules = widths.iter().enumerate().map(|(column, width)| {
                    let dashes = "-".repeat(width + 1);
                    if column == 0 { format!("{dashes}-") } else { format!("{dashes}:") }
                });
                println!("|{}|", rules.collect::<Vec<_>>().join("|"));
            }
        }
        println!();
    }
}
