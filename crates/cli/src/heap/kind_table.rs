//! Rows of a table of kinds.

use memtrail_heap::query::KindRow;
use memtrail_text::rounded::{bytes, grouped};

use super::table::{Table, outside};

/// Parts of a row that are shown.
const MAX_PARTS: usize = 3;

/// Headings of the figures before the name.
pub(super) const COLUMNS: [&str; 4] = ["blocks", "size", "off-heap", "retained"];

/// Adds a kind to a table, of a family with the number of its processes, and with what allocated its blocks.
pub(super) fn add(table: &mut Table, row: &KindRow, processes: Option<usize>) {
    let mut figures = vec![
        grouped(row.blocks),
        bytes(row.bytes.0 as f64),
        outside(row.external),
        row.retained.map_or_else(|| "–".into(), |size| format!("≥ {}", bytes(size.0 as f64))),
    ];
    figures.extend(processes.map(|processes| grouped(processes as u64)));
    table.row(figures, format!("{}{}", row.kind, sharing(row.shared_by)));
    for part in row.allocated.iter().take(MAX_PARTS) {
        let figures = vec![grouped(part.blocks), bytes(part.bytes.0 as f64)];
        table.faint(figures, format!("  {}", part.by.text()));
    }
}

/// Text behind the name of memory outside the heap that blocks share.
fn sharing(blocks: Option<u64>) -> String {
    match blocks {
        None => String::new(),
        Some(1) => ", of 1 block".to_owned(),
        Some(blocks) => format!(", shared by {} blocks", grouped(blocks)),
    }
}
