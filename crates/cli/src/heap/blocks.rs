//! `memtrail heap blocks`: blocks by what they are, how large, whose and how old.

use std::process::ExitCode;

use clap::ValueEnum;
use memtrail_engine::heap::BlocksResponse;
use memtrail_engine::query::{BlockSort, HeapBlocks};
use memtrail_engine::question::{Family, Selection};
use memtrail_text::rounded::{bytes, grouped, seconds};

use super::ask::gather;
use super::csv;
use super::joined::RecordingArgs;
use super::table::Table;
use crate::answer::OutputArgs;
use crate::canvas::{Canvas, FAINT, PLAIN};
use crate::error::Failure;
use crate::limit::Limit;
use crate::recording_source::Subject;

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
    which: RecordingArgs,
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
    form: OutputArgs,
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
    let (Limit(limit), which) = (args.limit, &args.which);
    let filter = args.conditions.join(" ");
    let sort = args.sort.into();
    let subject = which.subject()?;
    let asked =
        gather(&subject, Selection::first(sort, limit), |path, member, reduction, read| {
            let joined = which.open_with_or_without_trace(path)?;
            let (rec, snapshot) = joined.ids();
            let found = joined.rows(
                limit,
                |engine, offset, limit| {
                    let (filter, descending) = (filter.clone(), true);
                    let query =
                        HeapBlocks { rec, snapshot, filter, sort, descending, offset, limit };
                    engine.heap_blocks(&query)
                },
                |blocks| (&mut blocks.rows, blocks.listed),
            )?;
            read.damaged(joined.damage(&found));
            read.judge(joined.verdict());
            reduction.add(member, found.response);
            Ok(())
        })?;
    if !args.csv {
        return asked.put(&args.form, draw);
    }
    if let Some(blocks) = &asked.outcome.answer {
        write(blocks, matches!(subject, Subject::Family(_)))?;
    }
    Ok(asked.finish())
}

/// Writes a table for spreadsheets; of a family, with the process of each block.
fn write(blocks: &BlocksResponse, is_family: bool) -> Result<(), Failure> {
    let process = usize::from(!is_family);
    let titles = ["process", "block", "kind", "size", "off-heap", "retained", "owner", "age"];
    let rows = blocks.rows.iter().map(|row| {
        [
            row.process.clone().unwrap_or_default(),
            row.block.0.to_string(),
            row.kind.clone(),
            row.size.0.to_string(),
            row.external.0.to_string(),
            row.retained.0.to_string(),
            row.owner.clone().unwrap_or_default(),
            row.age.map_or_else(String::new, |age| age.to_string()),
        ]
    });
    csv::print(&titles[process..], rows.map(|cells| cells[process..].to_vec()))
}

fn draw(canvas: &mut Canvas, blocks: &BlocksResponse, family: Option<&Family<BlocksResponse>>) {
    let [count, of] = [blocks.count as u64, blocks.of].map(grouped);
    let text = format!("{count} of {of} blocks, {}", bytes(blocks.size.0 as f64));
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
        let text = [Some(&row.kind), row.owner.as_ref(), row.process.as_ref()];
        let text: Vec<&str> = text.into_iter().flatten().map(String::as_str).collect();
        table.row(figures, text.join("  "));
    }
    table.print(canvas);
    if blocks.left_out > 0 {
        let number = grouped(blocks.left_out as u64);
        let text = if blocks.rows.len() < blocks.listed {
            format!("… and {number} more (--limit 0: all)")
        } else {
            format!("… and {number} more that cannot be listed")
        };
        canvas.line(&[(FAINT, &text)]);
    }
    let of_one = if family.is_some() { " --process PID" } else { "" };
    let text = format!("all about one of them: memtrail heap block REC N{of_one}");
    canvas.line(&[(FAINT, &text)]);
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
