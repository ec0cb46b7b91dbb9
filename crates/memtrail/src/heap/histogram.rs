//! `memtrail heap histogram`: how much there is of each type or kind of block, or of each owner.

use std::process::ExitCode;

use memtrail_engine::question::{HistogramQuestion, KindHistogram, Outcome, named};
use memtrail_heap::Bytes;
use memtrail_heap::query::{self, Heap, KindRow, OwnedBlocks};
use memtrail_text::rounded::{bytes, grouped, percent};
use serde::Serialize;

use super::ask::ask;
use super::family;
use super::input::{Input, Which};
use super::owners::{self, Wanted};
use super::table::{Table, outside, unknown_dead};
use crate::canvas::{Canvas, FAINT};
use crate::error::Failure;
use crate::limit::Limit;
use crate::spinner::with_spinner;

/// Count blocks by type, kind or owner
///
/// Blocks whose type is known are counted by type, and by constructor where it has several: `page list (::)`. A type
/// with `~` was recognised by the contents of blocks: lists, hash tables, maps, sets, queues, buffers and
/// arrays of the standard library. All others are counted by kind: tag and size, function of closures,
/// identifier of custom blocks. Below a row such as `tag 0, 3 fields` is what allocated most of these blocks, as far as
/// the sampled ones in the same place of the heap tell. An owner is the root that a block is attributed to, as in
/// `heap roots`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) which: Which,
    /// What to count by: types where they are known, kinds alone, or owners
    #[arg(long, value_enum, default_value = "type")]
    pub(super) by: By,
    /// Only blocks that the root with this name owns, or those with this in their names
    #[arg(long, value_name = "NAME")]
    pub(super) owner: Option<String>,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "30")]
    pub(super) limit: Limit,
}

/// Parts of a row that are shown.
const MAX_PARTS: usize = 3;

/// What is said of what rows retain.
const MORE_RETAINED: &str = "retained: what the blocks of a row retain one by one, without what several \
    of them retain jointly, which `heap retained --kind` counts; –: not computed";

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum By {
    Type,
    Kind,
    Owner,
}

/// The answer by owner.
#[derive(Serialize)]
struct Owners {
    rows: Vec<OwnedBlocks>,
    /// Rows that `--limit` left out.
    left_out: usize,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if args.by == By::Owner {
        return owners(args);
    }
    let Limit(limit) = args.limit;
    let question =
        HistogramQuestion { by_type: args.by == By::Type, owner: args.owner.clone(), limit };
    ask(&args.which, &question, |canvas, outcome| draw(canvas, args, outcome))
}

fn draw(canvas: &mut Canvas, args: &Args, outcome: &Outcome<KindHistogram>) {
    let answer = &outcome.answer;
    let heading = if args.by == By::Type { "type or kind" } else { "kind" };
    let mut headings = COLUMNS.to_vec();
    headings.extend(outcome.family.as_ref().map(|_| "processes"));
    let mut table = Table::new(&headings, heading);
    for row in &answer.rows {
        let processes = outcome.family.as_ref().map(|_| row.processes.len());
        add(&mut table, &row.sum, processes);
    }
    let dead = answer.unreachable_blocks.zip(answer.unreachable_bytes);
    add_totals(&mut table, args, (answer.blocks, answer.bytes), dead);
    table.print(canvas);
    canvas.paragraph(FAINT, 2, MORE_RETAINED);
    more(canvas, answer.left_out);
}

fn owners(args: &Args) -> Result<ExitCode, Failure> {
    let (Limit(limit), name) = (args.limit, args.owner.as_deref());
    if let Some(members) = args.which.several()? {
        let wanted = Wanted { name, kind: None, min: Bytes(0), limit };
        return family::blocks_by_owner(&args.which, &members, &wanted);
    }
    let input = args.which.open()?;
    by_owner(args, &input, &input.heap()?)
}

/// Adds what all rows add up to, and what is dead, if that is known.
fn add_totals(table: &mut Table, args: &Args, all: (u64, Bytes), dead: Option<(u64, Bytes)>) {
    let figures = |(blocks, size): (u64, Bytes)| vec![grouped(blocks), bytes(size.0 as f64)];
    let total = figures(all);
    if let Some(owner) = &args.owner {
        table.strong(total, format!("owned by {owner}"));
    } else {
        table.strong(total, "retained by all roots");
        table.faint(dead.map_or_else(unknown_dead, figures), "dead, not yet freed");
    }
}

/// What a row of a table of kinds has before the name.
pub(super) const COLUMNS: [&str; 4] = ["blocks", "size", "off-heap", "retained"];

/// Adds a kind to a table, of a family with the number of its processes, and with what allocated its blocks.
pub(super) fn add(table: &mut Table, row: &KindRow, processes: Option<usize>) {
    let mut figures = vec![
        grouped(row.blocks),
        bytes(row.bytes.0 as f64),
        outside(row.external),
        row.retained.map_or_else(|| "–".into(), |size| format!("≥ {}", bytes(size.0 as f64))),
    ];
    figures.extend(processes.map(|processes| grouped(processes as u64)));
    table.row(figures, format!("{}{}", row.kind, sharing(row.shared_by)));
    for part in row.allocated.iter().take(MAX_PARTS) {
        let figures = vec![grouped(part.blocks), bytes(part.bytes.0 as f64)];
        table.faint(figures, format!("  {}", part.by.text()));
    }
}

/// What is behind the name of memory outside the heap that blocks share.
fn sharing(blocks: Option<u64>) -> String {
    match blocks {
        None => String::new(),
        Some(1) => ", of 1 block".to_owned(),
        Some(blocks) => format!(", shared by {} blocks", grouped(blocks)),
    }
}

/// The blocks of each owner.
fn by_owner(args: &Args, input: &Input, heap: &Heap<'_>) -> Result<ExitCode, Failure> {
    let owners = args.owner.as_deref().map(|name| named::owners_called(heap, name)).transpose()?;
    let mut rows = with_spinner("counting blocks".into(), || query::owned_blocks(heap))
        .map_err(|error| input.failure(&error))?;
    rows.retain(|row| owners.as_ref().is_none_or(|owners| owners.contains(&row.owner.owner)));
    let Limit(limit) = args.limit;
    let left_out = rows.split_off(rows.len().min(limit)).len();
    let answer = Owners { rows, left_out };
    input.answer(heap, &args.which.form, &answer, |canvas| {
        let mut table = Table::new(&["blocks", "size", "", "off-heap", "retained"], "owner");
        for row in &answer.rows {
            let figures = vec![
                grouped(row.blocks),
                bytes(row.owner.owned.0 as f64),
                percent(row.owner.share),
                outside(row.owner.owned_external),
                bytes(row.owner.retained.0 as f64),
            ];
            table.row(figures, owners::titled(&row.owner));
        }
        table.print(canvas);
        more(canvas, answer.left_out);
    })
}

fn more(canvas: &mut Canvas, left_out: usize) {
    if left_out > 0 {
        let more = grouped(left_out as u64);
        canvas.line(&[(FAINT, &format!("… and {more} more (--limit 0: all)"))]);
    }
}
