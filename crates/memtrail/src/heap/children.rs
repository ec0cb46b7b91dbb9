//! `memtrail heap dominators`: what hangs below a root or block.

use std::process::ExitCode;

use memtrail_heap::BlockIndex;
use memtrail_heap::graph::{EVERYTHING, HolderId, Node};
use memtrail_heap::query;

use super::input::Which;
use super::table::Table;
use crate::error::Failure;
use crate::units::{bytes, grouped};

/// Shows what is kept alive by one thing alone, step by step
///
/// Without further arguments: what hangs directly below all roots. Each row has a number behind it
/// that goes one step down: --root N for roots, --block N for the largest block of a kind.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    /// Look below this root
    #[arg(long, value_name = "N", conflicts_with = "block")]
    root: Option<u32>,
    /// Look below this block
    #[arg(long, value_name = "N")]
    block: Option<u32>,
    /// Print at most so many rows of each sort
    #[arg(long, value_name = "N", default_value = "20")]
    limit: usize,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let input = args.which.open()?;
    let heap = input.heap()?;
    let node = match args.block {
        Some(block) => Node::Block(BlockIndex(block)),
        None => Node::Holder(args.root.map_or(EVERYTHING, HolderId)),
    };
    let below = query::dominated(&heap, node).map_err(|error| input.failure(&error))?;
    input.answer(&heap, args.which.json, &below, |out| {
        let mut table = Table::new(&["retained", "blocks", "own size"], "");
        for (holder, name, retained) in below.holders.iter().take(args.limit) {
            let figures = vec![bytes(retained.0 as f64), String::new(), String::new()];
            table.row(figures, format!("{name}  (--root {})", holder.0));
        }
        for group in below.groups.iter().take(args.limit) {
            let figures = vec![
                bytes(group.retained.0 as f64),
                grouped(group.blocks),
                bytes(group.bytes.0 as f64),
            ];
            let largest = bytes(group.largest_retained.0 as f64);
            let which = if group.blocks == 1 {
                format!("--block {}", group.largest.0)
            } else {
                format!("largest {largest}: --block {}", group.largest.0)
            };
            table.row(figures, format!("{}  ({which})", group.kind));
        }
        table.print(out)?;
        let left_out = below.holders.len().saturating_sub(args.limit)
            + below.groups.len().saturating_sub(args.limit);
        if left_out > 0 {
            writeln!(out, "… and {left_out} more")?;
        }
        if below.holders.is_empty() && below.groups.is_empty() {
            writeln!(out, "nothing hangs from it alone")?;
        }
        Ok(())
    })
}
