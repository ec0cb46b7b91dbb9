//! `memtrail heap info`: what a snapshot is of.

use std::process::ExitCode;

use memtrail_engine::question::{InfoQuestion, SnapshotInfo};
use memtrail_text::rounded::{bytes, count, grouped, seconds};

use super::ask::ask;
use super::input::SnapshotArgs;
use super::table::{Table, unknown_dead};
use crate::canvas::{Canvas, PLAIN, STRONG, WARNING};
use crate::error::Failure;

/// Show what a snapshot is of, and how much is in it
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: SnapshotArgs,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    ask(&args.which, &InfoQuestion, |canvas, info, _| draw(canvas, info))
}

fn draw(canvas: &mut Canvas, SnapshotInfo { info, snapshots_missing }: &SnapshotInfo) {
    let label = if info.label.is_empty() { String::new() } else { format!(", {:?}", info.label) };
    let what = format!(
        "{} (pid {}), OCaml {}: snapshot {}, asked for by: {}{label}",
        info.program, info.pid, info.runtime, info.number, info.reason
    );
    canvas.paragraph(STRONG, 2, &what);
    let pause = info.pause.map_or_else(
        || "an unknown time: it is not in the file".into(),
        |pause| seconds(pause as f64 / 1e9),
    );
    canvas.line(&[(PLAIN, &format!("the program paused for {pause}"))]);
    canvas.gap();
    let mut table = Table::new(&["blocks", "size", "free"], "");
    for row in &info.spaces {
        let figures =
            vec![count(row.blocks as f64), bytes(row.bytes.0 as f64), bytes(row.between.0 as f64)];
        table.row(figures, row.space);
    }
    let figures = |blocks: u64, size: u64| vec![count(blocks as f64), bytes(size as f64)];
    table.strong(figures(info.reachable_blocks, info.reachable_bytes.0), "retained by all roots");
    let dead = info.unreachable_blocks.zip(info.unreachable_bytes);
    let dead = dead.map_or_else(unknown_dead, |(blocks, size)| figures(blocks, size.0));
    table.faint(dead, "dead, not yet freed");
    table.print(canvas);
    canvas.gap();
    if info.external.0 > 0 {
        let external = bytes(info.external.0 as f64);
        let mapped = match info.external_mapped.0 {
            0 => String::new(),
            mapped => format!(", {} of it mapped files", bytes(mapped as f64)),
        };
        let text = format!("{external} off-heap go with custom blocks{mapped}");
        canvas.paragraph(PLAIN, 2, &text);
    }
    if info.external_unknown > 0 {
        let text = format!(
            "{} custom blocks have off-heap memory of unknown size: bigarrays of C code",
            grouped(info.external_unknown)
        );
        canvas.paragraph(PLAIN, 2, &text);
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
    for line in snapshots_missing {
        canvas.paragraph(WARNING, 2, line);
    }
}
