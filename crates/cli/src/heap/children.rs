//! `memtrail heap dominators`: what a root or block dominates.

use std::process::ExitCode;

use memtrail_engine::question::{BelowDominator, DominatorsQuestion};
use memtrail_text::rounded::{bytes, grouped};

use super::ask::ask_about;
use super::input::SnapshotArgs;
use super::table::{Table, outside};
use crate::canvas::{Canvas, PLAIN};
use crate::error::Failure;
use crate::limit::{Limit, draw_left_out};

/// Walk down the dominator tree, by kind of block
///
/// Without further arguments: what all roots dominate directly. Each row has a number behind it
/// that goes one step down: --root N for roots, --block N for the largest block of a kind.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: SnapshotArgs,
    /// Look below this root: its number, or its name as `roots` prints it
    #[arg(long, value_name = "ROOT", conflicts_with = "block")]
    root: Option<String>,
    /// Look below this block
    #[arg(long, value_name = "N")]
    block: Option<u32>,
    /// Maximum number of rows of each sort; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    limit: Limit,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let (Limit(limit), which) = (args.limit, &args.which);
    let question = DominatorsQuestion { root: args.root.clone(), block: args.block, limit };
    let subject = if question.is_of_one_snapshot() { which.only()? } else { which.subject()? };
    ask_about(&subject, which, &question, |canvas, below, _| draw(canvas, below))
}

fn draw(canvas: &mut Canvas, found: &BelowDominator) {
    let BelowDominator { dominated: below, left_out: hidden } = found;
    if below.root_nodes.is_empty() && below.groups.is_empty() {
        canvas.line(&[(PLAIN, "nothing is retained by it alone")]);
        return;
    }
    let headings = ["retained", "off-heap", "blocks", "own size", "largest", "a step down"];
    let mut table = Table::new(&headings, "");
    for row in &below.root_nodes {
        let mut figures = vec![bytes(row.retained.0 as f64), outside(row.retained_external)];
        figures.resize(headings.len() - 1, String::new());
        figures.push(format!("--root {}", row.root.0));
        table.row(figures, row.name.as_str());
    }
    for group in &below.groups {
        let several = group.blocks > 1;
        let figures = vec![
            bytes(group.retained.0 as f64),
            outside(group.retained_external),
            grouped(group.blocks),
            bytes(group.bytes.0 as f64),
            if several { bytes(group.largest_retained.0 as f64) } else { String::new() },
            format!("--block {}", group.largest.0),
        ];
        table.row(figures, group.kind.as_str());
    }
    table.print(canvas);
    draw_left_out(canvas, *hidden, "");
}
