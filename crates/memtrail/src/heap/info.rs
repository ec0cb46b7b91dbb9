//! `memtrail heap info`: what a snapshot is of.

use std::process::ExitCode;

use memtrail_heap::query;

use super::input::Which;
use super::table::Table;
use crate::canvas::{PLAIN, STRONG};
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
    input.answer(&heap, &args.which.form, &info, |canvas| {
        let label =
            if info.label.is_empty() { String::new() } else { format!(", {:?}", info.label) };
        let what = format!(
            "{} (pid {}), OCaml {}: snapshot {}, asked for by: {}{label}",
            info.program, info.pid, info.runtime, info.number, info.reason
        );
        canvas.paragraph(STRONG, 2, &what);
        if info.pause > 0 {
            let pause = seconds(info.pause as f64 / 1e9);
            canvas.line(&[(PLAIN, &format!("the program stood still for {pause}"))]);
        }
        canvas.gap();
        let mut table = Table::new(&["blocks", "size", "free"], "");
        for row in &info.spaces {
            let figures = vec![
                count(row.blocks as f64),
                bytes(row.bytes.0 as f64),
                bytes(row.between.0 as f64),
            ];
            table.row(figures, row.space);
        }
        let figures = |blocks: u64, size: u64| vec![count(blocks as f64), bytes(size as f64)];
        table.strong(figures(info.reachable_blocks, info.reachable_bytes.0), "kept alive");
        table.faint(
            figures(info.unreachable_blocks, info.unreachable_bytes.0),
            "dead, not yet freed",
        );
        table.print(canvas);
        canvas.gap();
        if info.external.0 > 0 {
            let external = bytes(info.external.0 as f64);
            canvas.paragraph(PLAIN, 2, &format!("{external} outside the heap go with custom blocks"));
        }
        let counts = format!(
            "{} pointers, {} roots, {} ephemerons and weak arrays, {} finalisers, {} sampled blocks",
            count(info.edges as f64),
            grouped(info.roots),
            grouped(info.ephemerons),
            grouped(info.finalisers),
            grouped(info.samples)
        );
        canvas.paragraph(PLAIN, 2, &counts);
    })
}
