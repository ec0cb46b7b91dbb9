//! `memtrail heap histogram`: how much there is of each type or kind of block, or of each owner.

use std::process::ExitCode;

use memtrail_heap::Bytes;
use memtrail_heap::graph::RootNodeId;
use memtrail_heap::query::{self, Heap, Histogram, KindRow, OwnedBlocks};
use memtrail_text::rounded::{bytes, grouped, percent};
use serde::Serialize;

use super::allocated;
use super::family;
use super::input::{Input, Which};
use super::owners::{self, Wanted};
use super::table::{Table, outside, unknown_dead};
use crate::canvas::{Canvas, FAINT};
use crate::error::Failure;
use crate::limit::Limit;
use crate::recording_source::Fitting;
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
pub(super) const MORE_RETAINED: &str = "retained: what the blocks of a row retain one by one, without what several \
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
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if let Some(members) = args.which.several()? {
        return of_family(args, &members);
    }
    let input = args.which.open()?;
    let heap = match args.by {
        By::Type => input.typed_heap()?,
        By::Kind | By::Owner => input.heap()?,
    };
    if args.by == By::Owner {
        return by_owner(args, &input, &heap);
    }
    let histogram = count(args, &input, &heap)?;
    input.answer(&heap, &args.which.form, &histogram, |canvas| {
        let Limit(limit) = args.limit;
        let heading = if args.by == By::Type { "type or kind" } else { "kind" };
        let mut table = Table::new(&COLUMNS, heading);
        for row in histogram.rows.iter().take(limit) {
            add(&mut table, row, None);
        }
        let dead = histogram.unreachable_blocks.zip(histogram.unreachable_bytes);
        add_totals(&mut table, args, (histogram.blocks, histogram.bytes), dead);
        table.print(canvas);
        canvas.paragraph(FAINT, 2, MORE_RETAINED);
        more(canvas, histogram.rows.len(), limit);
    })
}

fn of_family(args: &Args, members: &[Fitting]) -> Result<ExitCode, Failure> {
    if args.by != By::Owner {
        return family::histogram(args, members);
    }
    let (Limit(limit), name) = (args.limit, args.owner.as_deref());
    let wanted = Wanted { name, kind: None, min: Bytes(0), limit };
    family::blocks_by_owner(&args.which, members, &wanted)
}

/// Adds what all rows add up to, and what is dead, if that is known.
pub(super) fn add_totals(
    table: &mut Table,
    args: &Args,
    all: (u64, Bytes),
    dead: Option<(u64, Bytes)>,
) {
    let figures = |(blocks, size): (u64, Bytes)| vec![grouped(blocks), bytes(size.0 as f64)];
    let total = figures(all);
    if let Some(owner) = &args.owner {
        table.strong(total, format!("owned by {owner}"));
    } else {
        table.strong(total, "retained by all roots");
        table.faint(dead.map_or_else(unknown_dead, figures), "dead, not yet freed");
    }
}

/// Counts blocks by type or kind.
pub(super) fn count(args: &Args, input: &Input, heap: &Heap<'_>) -> Result<Histogram, Failure> {
    let owners = args.owner.as_deref().map(|name| owners::called(heap, name)).transpose()?;
    let histogram = with_spinner("counting blocks".into(), || match &owners {
        Some(owners) => query::owned_histogram(heap, owners),
        None => query::histogram(heap),
    });
    let mut histogram = histogram.map_err(|error| input.failure(&error))?;
    if args.by == By::Type {
        allocated::name(&mut histogram, input, heap, owners.as_deref())?;
    }
    Ok(histogram)
}

/// What some owners have, by type or kind, with what allocated blocks without a type.
pub(super) fn of_owners(
    input: &Input,
    heap: &Heap<'_>,
    owners: &[RootNodeId],
) -> Result<Histogram, Failure> {
    let histogram = with_spinner("counting blocks".into(), || query::owned_histogram(heap, owners));
    let mut histogram = histogram.map_err(|error| input.failure(&error))?;
    allocated::name(&mut histogram, input, heap, Some(owners))?;
    Ok(histogram)
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
    let owners = args.owner.as_deref().map(|name| owners::called(heap, name)).transpose()?;
    let mut rows = with_spinner("counting blocks".into(), || query::owned_blocks(heap))
        .map_err(|error| input.failure(&error))?;
    rows.retain(|row| owners.as_ref().is_none_or(|owners| owners.contains(&row.owner.owner)));
    let answer = Owners { rows };
    input.answer(heap, &args.which.form, &answer, |canvas| {
        let Limit(limit) = args.limit;
        let mut table = Table::new(&["blocks", "size", "", "off-heap", "retained"], "owner");
        for row in answer.rows.iter().take(limit) {
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
        more(canvas, answer.rows.len(), limit);
    })
}

pub(super) fn more(canvas: &mut Canvas, rows: usize, limit: usize) {
    if rows > limit {
        let more = grouped((rows - limit) as u64);
        canvas.line(&[(FAINT, &format!("… and {more} more (--limit 0: all)"))]);
    }
}
