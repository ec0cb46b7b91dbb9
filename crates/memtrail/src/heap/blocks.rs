//! `memtrail heap blocks`: blocks by what they are, how large, whose and how old.

use std::cmp::Ordering;
use std::process::ExitCode;

use clap::ValueEnum;
use memtrail_engine::heap::{BlockRow, BlocksResponse, OfSnapshot};
use memtrail_engine::query::{BlockSort, HeapBlocks};
use memtrail_heap::Bytes;
use memtrail_text::rounded::{bytes, grouped, seconds};

use super::csv;
use super::family;
use super::joined::{Joined, WhichRecording};
use super::table::Table;
use crate::answer::{Form, Limited, put};
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
    pub(super) which: WhichRecording,
    /// Which blocks: type:page, 'size:>1k', owner:Cache.table, 'age:>10s', 'retained:>1M'
    #[arg(value_name = "CONDITION")]
    conditions: Vec<String>,
    /// Put blocks in order by this, the largest or oldest first
    #[arg(long, value_enum, default_value = "retained")]
    pub(super) sort: Sort,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    pub(super) limit: Limit,
    /// Print a table for spreadsheets: comma-separated values, sizes in bytes
    #[arg(long, conflicts_with_all = ["json", "width"])]
    pub(super) csv: bool,
    #[command(flatten)]
    pub(super) form: Form,
}

/// What blocks are put in order by.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Sort {
    /// Bytes that would be freed without it
    Retained,
    /// Own size
    Size,
    /// Time since its allocation
    Age,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if let Some(members) = args.which.several()? {
        return family::blocks(args, &members);
    }
    let joined = args.which.open_with_or_without_trace()?;
    let answer = find(args, &joined)?;
    if args.csv {
        csv::print(&TITLES, answer.response.rows.iter().map(cells))?;
        return joined.verdict();
    }
    let damage = joined.damage(&answer);
    let blocks = answer.response;
    let limited = Limited::new(&blocks, blocks.rows.len(), blocks.count);
    put(&args.form, damage, &limited, |canvas| draw(canvas, &blocks))?;
    joined.verdict()
}

/// The blocks that are asked for.
pub(super) fn find(args: &Args, joined: &Joined) -> Result<OfSnapshot<BlocksResponse>, Failure> {
    let Limit(limit) = args.limit;
    let (rec, snapshot) = joined.ids();
    let filter = args.conditions.join(" ");
    let sort = args.sort.into();
    joined.rows(
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
    )
}

/// The titles of [`cells`].
pub(super) const TITLES: [&str; 7] =
    ["block", "kind", "size", "off-heap", "retained", "owner", "age"];

/// A row of a table for spreadsheets.
pub(super) fn cells(row: &BlockRow) -> [String; 7] {
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
    draw_sums(canvas, blocks.count, blocks.of, blocks.size);
    if blocks.rows.is_empty() {
        return;
    }
    canvas.gap();
    let mut table = table();
    for row in &blocks.rows {
        table.row(figures(row), titled(row));
    }
    table.print(canvas);
    draw_rest(canvas, blocks.count, blocks.rows.len(), blocks.listed);
    canvas.line(&[(FAINT, "all about one of them: memtrail heap block REC N")]);
}

/// How many blocks there are, of how many.
pub(super) fn draw_sums(canvas: &mut Canvas, count: usize, of: u64, size: Bytes) {
    let [count, of] = [grouped(count as u64), grouped(of)];
    canvas.line(&[(PLAIN, &format!("{count} of {of} blocks, {}", bytes(size.0 as f64)))]);
}

/// A table of blocks without rows.
pub(super) fn table() -> Table {
    Table::new(&["retained", "size", "age", "block"], "kind, and who owns it")
}

/// A row's figures.
pub(super) fn figures(row: &BlockRow) -> Vec<String> {
    vec![
        bytes(row.retained.0 as f64),
        bytes(row.size.0 as f64),
        row.age.map_or_else(String::new, seconds),
        row.block.0.to_string(),
    ]
}

/// Its name.
pub(super) fn titled(row: &BlockRow) -> String {
    let owner = row.owner.as_ref().map_or_else(String::new, |owner| format!("  {owner}"));
    format!("{}{owner}", row.kind)
}

/// How many blocks are not in the table.
pub(super) fn draw_rest(canvas: &mut Canvas, count: usize, shown: usize, listed: usize) {
    let left_out = count.saturating_sub(shown) as u64;
    if left_out > 0 {
        let text = if shown < listed {
            format!("… and {} more (--limit 0: all)", grouped(left_out))
        } else {
            format!("… and {} more that cannot be listed", grouped(left_out))
        };
        canvas.line(&[(FAINT, &text)]);
    }
}

impl Sort {
    /// The order of two rows.
    pub(super) fn compare(self, a: &BlockRow, b: &BlockRow) -> Ordering {
        match self {
            Self::Retained => b.retained.cmp(&a.retained),
            Self::Size => b.size.cmp(&a.size),
            // Those of unknown age are the youngest.
            Self::Age => b.age.unwrap_or(-1.0).total_cmp(&a.age.unwrap_or(-1.0)),
        }
    }
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
