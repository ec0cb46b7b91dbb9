//! Draws how much is in the last snapshots of a family: of all processes, of each, and of each generation.

use memtrail_engine::question::{FamilySums, OfProcess, Sizes, Twice};
use memtrail_text::rounded::{bytes, count, grouped};

use super::NOTE;
use crate::canvas::{Canvas, FAINT};
use crate::heap::table::{Table, outside};

/// Processes in the table, at most.
const MAX_ROWS: usize = 20;

fn figures(sizes: Sizes) -> Vec<String> {
    let Sizes { blocks, owned, owned_external } = sizes;
    vec![count(blocks as f64), bytes(owned.0 as f64), outside(owned_external)]
}

/// Draws the processes, and sums by generation.
pub(in crate::heap) fn draw_sums(canvas: &mut Canvas, sums: &FamilySums) {
    let mut table = Table::new(&["blocks", "size", "off-heap"], "process");
    let name = format!("{} processes with snapshots", grouped(sums.count() as u64));
    table.strong(figures(sums.all), name);
    for OfProcess { process, sizes, .. } in sums.processes.iter().take(MAX_ROWS) {
        table.row(figures(*sizes), format!("{}{}", process.name, process.note()));
    }
    if sums.generations.len() > 1 {
        for generation in &sums.generations {
            let (number, processes) = (generation.number, generation.processes);
            let plural = if processes == 1 { "process" } else { "processes" };
            let name = format!("generation {number}: {} {plural}", grouped(processes as u64));
            table.faint(figures(generation.sizes), name);
        }
    }
    table.print(canvas);
    let left_out = sums.count().saturating_sub(MAX_ROWS);
    if left_out > 0 {
        let text =
            format!("{} more processes that have less (--json: all)", grouped(left_out as u64));
        canvas.line(&[(FAINT, &text)]);
    }
    if let Some((Twice { bytes: size, .. }, once)) = sums.twice.zip(sums.counted_once) {
        let text = format!(
            "{NOTE}. {} of forks are at the same addresses as in the parent's snapshot; all that is reachable is {} without these",
            bytes(size.0 as f64),
            bytes(once.0 as f64),
        );
        canvas.paragraph(FAINT, 2, &text);
    }
    canvas.line(&[(FAINT, "one of them: --process PID")]);
}
