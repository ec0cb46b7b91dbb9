//! `memtrail heap containers`: hash tables, maps, arrays and the like, and what is wasted in them.

use std::process::ExitCode;

use memtrail_engine::query::ContainerSort;
use memtrail_engine::question::{ContainersQuestion, LargestContainers, Selection};
use memtrail_heap::Bytes;
use memtrail_heap::contents::Structure;
use memtrail_heap::query::{self, Contained, Container};
use memtrail_text::rounded::{bytes, grouped};

use super::ask::ask;
use super::input::SnapshotArgs;
use super::table::{Table, outside};
use super::title::with_type;
use crate::canvas::{Canvas, FAINT, PLAIN, STRONG, clean};
use crate::error::Failure;
use crate::limit::{Limit, draw_left_out};

/// Measure hash tables, maps, sets, arrays, queues, buffers and lists
///
/// Those that retain most come first, each with the path to it, its entries, what its keys and values take up,
/// and what could be saved: room for entries that are not there, numbers in blocks of their own, strings
/// that are there several times (in snapshots with contents, --contents). Containers are recognised by
/// their contents; small ones, and some of other libraries, are not.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) which: SnapshotArgs,
    /// Containers of this sort only; may be repeated
    #[arg(long = "kind", value_enum, value_name = "KIND")]
    kinds: Vec<Sort>,
    /// Only containers with this text in their type, owner or path; a capital letter makes case matter
    #[arg(long, value_name = "TEXT")]
    find: Option<String>,
    /// Order of containers, the largest first
    #[arg(long, value_enum, default_value = "retained")]
    sort: Order,
    /// Rows to skip
    #[arg(long, value_name = "N", default_value = "0")]
    offset: usize,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "10")]
    limit: Limit,
}

/// Order of containers.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Order {
    /// Retained size, off-heap memory included
    Retained,
    /// Number of entries
    Entries,
    /// Bytes that could be saved
    Wasted,
    /// Retained off-heap memory
    OffHeap,
    /// Type
    Name,
}

impl From<Order> for ContainerSort {
    fn from(order: Order) -> Self {
        match order {
            Order::Retained => Self::Retained,
            Order::Entries => Self::Entries,
            Order::Wasted => Self::Wasted,
            Order::OffHeap => Self::External,
            Order::Name => Self::Name,
        }
    }
}

/// A sort of container.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Sort {
    Hashtbl,
    Map,
    Set,
    Array,
    Queue,
    Buffer,
    List,
}

impl Sort {
    const fn structure(self) -> Structure {
        match self {
            Self::Hashtbl => Structure::HashTable,
            Self::Map => Structure::Map,
            Self::Set => Structure::Set,
            Self::Array => Structure::Array,
            Self::Queue => Structure::Queue,
            Self::Buffer => Structure::Buffer,
            Self::List => Structure::List,
        }
    }
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut of: Vec<Structure> = args.kinds.iter().map(|sort| sort.structure()).collect();
    if of.is_empty() {
        of.extend(Structure::ALL);
    }
    let selection = Selection {
        find: args.find.clone(),
        order: args.sort.into(),
        offset: args.offset,
        limit: args.limit.0,
    };
    ask(&args.which, &ContainersQuestion { of, selection }, |canvas, found, _| draw(canvas, found))
}

/// What a row of a table of containers has before the name.
const COLUMNS: [&str; 4] = ["retained", "off-heap", "entries", "wasted"];

/// Its figures.
fn figures(row: &Container) -> Vec<String> {
    vec![
        size(row.retained),
        outside(row.retained_external),
        row.entries.map_or_else(String::new, grouped),
        outside(row.waste.sum()),
    ]
}

/// Its name.
fn titled(row: &Container) -> String {
    format!("{} in {}", row.r#type, row.path)
}

fn draw(canvas: &mut Canvas, found: &LargestContainers) {
    if found.rows.is_empty() {
        canvas.line(&[(PLAIN, "no containers are recognised")]);
        return;
    }
    let mut table = Table::new(&COLUMNS, "container");
    for of in &found.rows {
        let process = of.process.as_ref().map_or_else(String::new, |name| format!(", {name}"));
        table.row(figures(&of.row), format!("{}{process}", titled(&of.row)));
    }
    table.print(canvas);
    draw_left_out(canvas, found.left_out as usize, "");
    for of in &found.rows {
        canvas.gap();
        describe(canvas, &of.row);
        if let Some(process) = &of.process {
            canvas.paragraph(PLAIN, 2, &format!("in {process}"));
        }
    }
}

fn size(size: Bytes) -> String {
    bytes(size.0 as f64)
}

/// A container in sentences.
fn describe(canvas: &mut Canvas, row: &Container) {
    let place = if row.path.is_empty() { String::new() } else { format!(" in {}", row.path) };
    let title = format!("{}{place} (--block {})", row.r#type, row.block.0);
    canvas.paragraph(STRONG, 2, &title);
    if !row.owner.is_empty() {
        let owner = query::with_held(&row.owner, row.owner_holds.as_deref());
        let owner = with_type(&owner, None, row.position.as_deref());
        canvas.paragraph(PLAIN, 2, &format!("owned by {}", clean(&owner)));
    }
    let mut facts = Vec::new();
    if let Some(entries) = row.entries {
        let word = if entries == 1 { "entry" } else { "entries" };
        facts.push(format!("{} {word}", grouped(entries)));
    }
    if let (Some(all), Some(empty)) = (row.buckets, row.empty_buckets) {
        let load = row.entries.unwrap_or(0) as f64 / all.max(1) as f64;
        facts.push(format!(
            "{} buckets, {} of them empty, {load:.2} entries each",
            grouped(all),
            grouped(empty)
        ));
    }
    if let Some(longest) = row.longest_bucket {
        facts.push(format!("{} in the longest", grouped(longest)));
    }
    let contained = [("keys", row.keys), ("values", row.values)];
    facts.extend(contained.iter().filter_map(|(name, what)| Some(of(name, (*what)?))));
    facts.push(format!("retains {}", size(row.retained)));
    canvas.paragraph(PLAIN, 2, &facts.join("; "));
    let waste = row.waste;
    let wasted: Vec<String> = [
        (waste.empty, "empty room"),
        (waste.boxed, "boxed numbers"),
        (waste.duplicates.unwrap_or_default(), "duplicate strings"),
    ]
    .into_iter()
    .filter(|(bytes, _)| bytes.0 > 0)
    .map(|(bytes, what)| format!("{} {what}", size(bytes)))
    .collect();
    if !wasted.is_empty() {
        canvas.paragraph(FAINT, 2, &format!("wasted: {}", wasted.join(", ")));
    }
}

/// `keys 1.1 MiB, values …`.
fn of(name: &str, what: Contained) -> String {
    if what.blocks == 0 {
        return format!("{name} are immediate");
    }
    let [own, retained] = [what.bytes, what.retained].map(size);
    if own == retained {
        format!("{name} {own}")
    } else {
        format!("{name} {own}, retaining {retained}")
    }
}
