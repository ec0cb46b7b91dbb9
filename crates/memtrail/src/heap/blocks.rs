//! `memtrail heap blocks`: blocks by what they are, how large, whose and how old.

use std::process::ExitCode;

use clap::ValueEnum;
use memtrail_engine::heap::{BlockRow, BlocksResponse};
use memtrail_engine::query::{BlockSort, HeapBlocks};
use memtrail_text::rounded::{bytes, grouped, seconds};

use super::csv;
use super::input::{Form, put};
use super::joined::WhichRecording;
use super::table::Table;
use crate::canvas::{Canvas, FAINT, PLAIN};
use crate::error::Failure;
use crate::limit::Limit;

/// List blocks by kind, type, size, owner, age, and by what they retain
///
/// Only reachable blocks are listed. All CONDITIONs must hold: kind:NAME, type:NAME, owner:NAME, size:RANGE,
/// retained:RANGE, age:RANGE. Several values inside one are joined by commas; any of them will do. A name is written
/// as `histogram` and `roots` print it; ~PART means all names with this in them, /…/ a regular expression; a type may
/// be written without its module. Ranges are like 1K..2M, 10s.., >1M, <=5min. `-` before a condition excludes what it
/// means.
///
/// The age of a block is the time from its allocation to the snapshot. It is known of blocks that were sampled.
#[derive(clap::Args)]
#[command(after_help = "\
  memtrail heap blocks REC kind:string 'size:>1M'
  memtrail heap blocks REC type:page 'owner:~Cache' 'age:>10s' --sort age
  memtrail heap blocks REC -- -kind:string 'retained:>1M'")]
pub(crate) struct Args {
    #[command(flatten)]
    which: WhichRecording,
    /// Which blocks: type:page, 'size:>1k', owner:Cache.table, 'age:>10s', 'retained:>1M'
    #[arg(value_name = "CONDITION")]
    conditions: Vec<String>,
    /// Put blocks in order by this, the largest or oldest first
    #[arg(long, value_enum, default_value = "retained")]
    sort: Sort,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    limit: Limit,
    /// Print a table for spreadsheets: comma-separated values, sizes in bytes
    #[arg(long, conflicts_with_all = ["json", "width"])]
    csv: bool,
    #[command(flatten)]
    form: Form,
}

/// What blocks are put in order by.
#[derive(Clone, Copy, ValueEnum)]
enum Sort {
    /// Bytes that would be freed without it
    Retained,
    /// Own size
    Size,
    /// Time since its allocation
    Age,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let joined = args.which.open_with_or_without_trace()?;
    let Limit(limit) = args.limit;
    let (rec, snapshot) = joined.ids();
    let filter = args.conditions.join(" ");
    let sort = args.sort.into();
    let answer = joined.rows(
        limit,
        |engine, offset, limit| {
            let filter = filter.clone();
            engine.heap_blocks(&HeapBlocks {
                rec,
                snapshot,
                filter,
                sort,
                descending: true,
                offset,
                limit,
            })
        },
        |blocks| (&mut blocks.rows, blocks.listed),
    )?;
    if args.csv {
        csv::print(&TITLES, answer.response.rows.iter().map(cells))?;
        return joined.verdict();
    }
    put(&args.form, joined.damage(&answer), &answer, |canvas| draw(canvas, &answer.response))?;
    joined.verdict()
}

const TITLES: [&str; 7] = ["block", "kind", "size", "off-heap", "retained", "owner", "age"];

fn cells(row: &BlockRow) -> [String; 7] {
    [
        row.block.0.to_string(),
        row.kind.clone(),
        row.size.0.to_string(),
        row.external.0.to_string(),
        row.retained.0.to_string(),
        row.owner.clone().unwrap_or_default(),
        row.age.map_or_else(String::new, |age| age.to_string()),
    ]
}

fn draw(canvas: &mut Canvas, blocks: &BlocksResponse) {
    let text = format!(
        "{} of {} blocks, {}",
        grouped(blocks.count as u64),
        grouped(blocks.of),
        bytes(blocks.size.0 as f64),
    );
    canvas.line(&[(PLAIN, &text)]);
    if blocks.rows.is_empty() {
        return;
    }
    canvas.gap();
    let mut table = Table::new(&["retained", "size", "age", "block"], "kind, and who owns it");
    for row in &blocks.rows {
        let figures = vec![
            bytes(row.retained.0 as f64),
            bytes(row.size.0 as f64),
            row.age.map_or_else(String::new, seconds),
            row.block.0.to_string(),
        ];
        let owner = row.owner.as_ref().map_or_else(String::new, |owner| format!("  {owner}"));
        table.row(figures, format!("{}{owner}", row.kind));
    }
    table.print(canvas);
    let left_out = blocks.count.saturating_sub(blocks.rows.len()) as u64;
    if left_out > 0 {
        let text = if blocks.rows.len() < blocks.listed {
            format!("… and {} more (--limit 0: all)", grouped(left_out))
        } else {
            format!("… and {} more that cannot be listed", grouped(left_out))
        };
        canvas.line(&[(FAINT, &text)]);
    }
    canvas.line(&[(FAINT, "all about one of them: memtrail heap block REC N")]);
}

impl From<Sort> for BlockSort {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Retained => Self::Retained,
            Sort::Size => Self::Size,
            Sort::Age => Self::Age,
        }
    }
}
