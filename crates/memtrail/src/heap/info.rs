//! `memtrail heap info`: what a snapshot is of.

use std::process::ExitCode;

use memtrail_heap::query;

use super::input::Which;
use super::table::Table;
use crate::error::Failure;
use crate::units::{bytes, count, grouped, seconds};

/// Shows what a snapshot is of, and how much is in it
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let input = args.which.open()?;
    let heap = input.heap()?;
    let info = query::info(&heap).map_err(|error| input.failure(&error))?;
    input.answer(&heap, args.which.json, &info, |out| {
        write!(
            out,
            "{} (pid {}), OCaml {}: snapshot {}, asked for by: {}",
            info.program, info.pid, info.runtime, info.number, info.reason
        )?;
        let label = Some(&info.label).filter(|label| !label.is_empty());
        writeln!(out, "{}", label.map(|label| format!(", {label:?}")).unwrap_or_default())?;
        if info.pause > 0 {
            writeln!(out, "the program stood still for {}", seconds(info.pause as f64 / 1e9))?;
        }
        writeln!(out)?;
        let mut table = Table::new(&["blocks", "size", "free"], "");
        for row in &info.spaces {
            let figures =
                vec![count(row.blocks as f64), bytes(row.bytes.0 as f64), bytes(row.between.0 as f64)];
            table.row(figures, row.space);
        }
        let mut sum = |blocks: u64, size: u64, text: &str| {
            table.row(vec![count(blocks as f64), bytes(size as f64)], text);
        };
        sum(info.reachable_blocks, info.reachable_bytes.0, "kept alive");
        sum(info.unreachable_blocks, info.unreachable_bytes.0, "dead, not yet freed");
        table.print(out)?;
        writeln!(out)?;
        if info.external.0 > 0 {
            writeln!(out, "{} outside the heap go with custom blocks", bytes(info.external.0 as f64))?;
        }
        writeln!(
            out,
            "{} pointers, {} roots, {} ephemerons and weak arrays, {} finalisers, {} sampled blocks",
            count(info.edges as f64),
            grouped(info.roots),
            grouped(info.ephemerons),
            grouped(info.finalisers),
            grouped(info.samples)
        )
    })
}
