//! `memtrail heap histogram`: how much there is of each type or kind of block, or of each owner.

use std::process::ExitCode;

use memtrail_engine::question::{
    Family, HistogramQuestion, KindHistogram, OwnersQuestion, Selection,
};
use memtrail_heap::Bytes;
use memtrail_heap::query::KindOrder;
use memtrail_text::rounded::{bytes, grouped};

use super::ask::find;
use super::input::SnapshotArgs;
use super::kind_table;
use super::owners;
use super::table::{Table, unknown_dead};
use crate::answer::{Printer, Recipient};
use crate::canvas::{Canvas, FAINT};
use crate::error::{Failure, Kind};
use crate::limit::{Limit, draw_left_out};

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
    pub(super) which: SnapshotArgs,
    /// What to count by: types where they are known, kinds alone, or owners
    #[arg(long, value_enum, default_value = "type")]
    pub(super) by: By,
    /// Only blocks that the root with this name owns, or those with this in their names
    #[arg(long, value_name = "NAME")]
    pub(super) owner: Option<String>,
    /// Only types or kinds with this text in their names; a capital letter makes case matter
    #[arg(long, value_name = "TEXT")]
    find: Option<String>,
    /// Order of types or kinds, the largest first
    #[arg(long, value_enum, default_value = "size")]
    sort: Order,
    /// Rows to skip
    #[arg(long, value_name = "N", default_value = "0")]
    offset: usize,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "30")]
    limit: Limit,
}

/// Order of types and kinds.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Order {
    /// Own size, off-heap memory included
    Size,
    /// Number of blocks
    Blocks,
    /// Retained size
    Retained,
    /// Off-heap memory
    OffHeap,
    /// Name
    Name,
}

impl From<Order> for KindOrder {
    fn from(order: Order) -> Self {
        match order {
            Order::Size => Self::Bytes,
            Order::Blocks => Self::Blocks,
            Order::Retained => Self::Retained,
            Order::OffHeap => Self::External,
            Order::Name => Self::Name,
        }
    }
}

/// What is said of what rows retain.
const MORE_RETAINED: &str = "retained: what the blocks of a row retain one by one, without what several \
    of them retain jointly, which `heap retained --kind` counts; –: not computed";

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum By {
    Type,
    Kind,
    Owner,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    answer(args, Printer)
}

/// Gives the answer to a recipient.
pub(crate) fn answer<R: Recipient>(args: &Args, recipient: R) -> Result<R::Received, Failure> {
    let selection = Selection {
        find: args.find.clone(),
        order: args.sort.into(),
        offset: args.offset,
        limit: args.limit.0,
    };
    let owner = args.owner.clone();
    if args.by == By::Owner {
        if args.find.is_some() || args.sort != Order::Size || selection.offset > 0 {
            let message = "--find, --sort and --offset are for types and kinds";
            return Err(Failure::new(Kind::Usage, message)
                .hint("owners with a text in their names: --owner TEXT"));
        }
        let question = OwnersQuestion {
            name: owner,
            kind: None,
            min: Bytes(0),
            count_blocks: true,
            describe: false,
            limit: selection.limit,
        };
        let found = find(&args.which.subject()?, &args.which, &question)?;
        return found.give(recipient, &args.which.form, owners::draw_list);
    }
    let question = HistogramQuestion { by_type: args.by == By::Type, owner, selection };
    let found = find(&args.which.subject()?, &args.which, &question)?;
    found.give(recipient, &args.which.form, |canvas, histogram, family| {
        draw(canvas, args, histogram, family);
    })
}

fn draw(
    canvas: &mut Canvas,
    args: &Args,
    answer: &KindHistogram,
    family: Option<&Family<KindHistogram>>,
) {
    let heading = if args.by == By::Type { "type or kind" } else { "kind" };
    let mut headings = kind_table::COLUMNS.to_vec();
    headings.extend(family.map(|_| "processes"));
    let mut table = Table::new(&headings, heading);
    for row in &answer.rows {
        kind_table::add(&mut table, row, family.map(|_| row.processes.len()));
    }
    let dead = answer.unreachable_blocks.zip(answer.unreachable_bytes);
    add_totals(&mut table, args, (answer.blocks, answer.bytes), dead);
    table.print(canvas);
    canvas.paragraph(FAINT, 2, MORE_RETAINED);
    draw_left_out(canvas, answer.left_out, "");
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
