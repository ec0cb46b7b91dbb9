//! `memtrail heap histogram`: how much there is of each type or kind of block.

use std::process::ExitCode;

use memtrail_heap::query;
use memtrail_text::rounded::{bytes, grouped};

use super::input::Which;
use super::table::{Table, outside, unknown_dead};
use crate::canvas::FAINT;
use crate::error::Failure;
use crate::limit::Limit;

/// Count blocks by type or kind
///
/// Blocks whose type is known are counted by type, and by constructor where it has several: `page list (::)`. A type
/// with `~` was recognised by the contents of blocks: lists, hash tables, maps, sets, queues, buffers and
/// arrays of the standard library. All others are counted by kind: tag and size, function of closures,
/// identifier of custom blocks.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    /// What to count by: types where they are known, or kinds alone
    #[arg(long, value_enum, default_value = "type")]
    by: By,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "30")]
    limit: Limit,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum By {
    Type,
    Kind,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let input = args.which.open()?;
    let heap = match args.by {
        By::Type => input.typed_heap()?,
        By::Kind => input.heap()?,
    };
    let histogram = query::histogram(&heap).map_err(|error| input.failure(&error))?;
    input.answer(&heap, &args.which.form, &histogram, |canvas| {
        let Limit(limit) = args.limit;
        let mut table = Table::new(&["blocks", "size", "off-heap", "retained"], if args.by == By::Type { "type or kind" } else { "kind" });
        for row in histogram.rows.iter().take(limit) {
            let figures = vec![
                grouped(row.blocks),
                bytes(row.bytes.0 as f64),
                outside(row.external),
                row.retained
                    .map_or_else(|| "–".into(), |size| format!("≥ {}", bytes(size.0 as f64))),
            ];
            table.row(figures, row.kind.as_str());
        }
        let total = vec![grouped(histogram.blocks), bytes(histogram.bytes.0 as f64)];
        table.strong(total, "retained by all roots");
        let dead = histogram.unreachable_blocks.zip(histogram.unreachable_bytes);
        let dead = dead.map_or_else(unknown_dead, |(blocks, size)| {
            vec![grouped(blocks), bytes(size.0 as f64)]
        });
        table.faint(dead, "dead, not yet freed");
        table.print(canvas);
        let text = "retained: what the blocks of a row retain one by one, without what several of them \
                    retain jointly, which `heap retained --kind` counts; –: not computed";
        canvas.paragraph(FAINT, 2, text);
        if histogram.rows.len() > limit {
            let more = grouped((histogram.rows.len() - limit) as u64);
            canvas.line(&[(FAINT, &format!("… and {more} more (--limit 0: all)"))]);
        }
    })
}
