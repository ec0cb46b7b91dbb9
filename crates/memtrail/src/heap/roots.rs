//! `memtrail heap roots`, `stack` and `shared`: what holds memory from outside the heap.

use std::process::ExitCode;

use memtrail_heap::graph::HolderId;
use memtrail_heap::query::{self, Heap, RootRow};
use memtrail_heap::{Bytes, RootKind};

use super::input::Which;
use super::table::Table;
use crate::error::{Failure, Kind};
use crate::units::{bytes, percent, ratio};

/// Lists the roots that keep most memory alive
///
/// A root is what holds a value from outside the heap: a module's global, a slot on a stack, a C
/// variable, a finaliser. Rows nest: a module is there as a whole and with each of its fields, a
/// thread with each of its frames. What several roots keep is in none of their rows, but in that of
/// what they have in common.
#[derive(clap::Args)]
pub(crate) struct RootsArgs {
    #[command(flatten)]
    which: Which,
    /// Leave out what retains less: 100k, 1M, 2GiB
    #[arg(long, value_name = "SIZE", default_value = "1", value_parser = size, hide_default_value = true)]
    min: u64,
    /// Only one kind: global, stack, local-c, global-c, finaliser, memprof, hook, domain,
    /// ephemeron, static, other
    #[arg(long, value_parser = kind)]
    kind: Option<RootKind>,
    /// Print at most so many rows; 0 for all
    #[arg(long, value_name = "N", default_value = "40")]
    limit: usize,
}

/// Shows what each stack frame keeps alive, innermost first
#[derive(clap::Args)]
pub(crate) struct StackArgs {
    #[command(flatten)]
    which: Which,
}

/// Shows how much two roots have in common
#[derive(clap::Args)]
pub(crate) struct SharedArgs {
    #[command(flatten)]
    which: Which,
    /// A root's name as `roots` prints it, or a part of it that no other has
    a: String,
    /// Another
    b: String,
}

/// `100k`, `1M`, `2GiB`.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift =
        match text[digits.len()..].to_ascii_lowercase().trim_end_matches('b').trim_end_matches('i')
        {
            "" => 0,
            "k" => 10,
            "m" => 20,
            "g" => 30,
            _ => return Err(format!("`{text}` is no size: 100k, 1M and 2GiB are")),
        };
    let number: u64 =
        digits.parse().map_err(|_| format!("`{text}` is no size: 100k, 1M and 2GiB are"))?;
    number.checked_mul(1 << shift).ok_or_else(|| format!("`{text}` is more than there is"))
}

fn kind(text: &str) -> Result<RootKind, String> {
    let known = RootKind::ALL.iter().find(|kind| kind.name() == text);
    known.copied().ok_or_else(|| {
        let names: Vec<&str> = RootKind::ALL.iter().map(|kind| kind.name()).collect();
        format!("no such kind; there are {}", names.join(", "))
    })
}

pub(super) fn roots(args: &RootsArgs) -> Result<ExitCode, Failure> {
    let input = args.which.open()?;
    let heap = input.heap()?;
    let limit = if args.limit == 0 || args.which.json { usize::MAX } else { args.limit };
    let (rows, left_out) = query::roots(&heap, Bytes(args.min), args.kind, limit);
    input.answer(&heap, args.which.json, &rows, |out| {
        print(out, &heap, &rows)?;
        if left_out > 0 {
            writeln!(out, "… and {left_out} more (--limit 0 for all, --min for the large ones)")?;
        }
        Ok(())
    })
}

fn print(out: &mut dyn std::io::Write, heap: &Heap<'_>, rows: &[RootRow]) -> std::io::Result<()> {
    let all = heap.graph.held(memtrail_heap::graph::EVERYTHING).bytes();
    let mut table = Table::new(&["retained", "", "reachable", "kind"], "root");
    for row in rows {
        let name = if row.path.is_empty() { "(all)".into() } else { row.path.join(" / ") };
        let figures = vec![
            bytes(row.retained.0 as f64),
            percent(ratio(row.retained.0 as f64, all.0 as f64)),
            bytes(row.reachable.0 as f64),
            row.kind.to_owned(),
        ];
        table.row(figures, name);
    }
    table.print(out)
}

pub(super) fn stack(args: &StackArgs) -> Result<ExitCode, Failure> {
    let input = args.which.open()?;
    let heap = input.heap()?;
    let rows = query::stack(&heap);
    input.answer(&heap, args.which.json, &rows, |out| {
        let mut table = Table::new(&["retained", "reachable"], "frame");
        for row in rows.iter().filter(|row| !row.path.is_empty()) {
            let indent = "  ".repeat(row.path.len() - 1);
            let name = row.path.last().map_or("", String::as_str);
            let figures = vec![bytes(row.retained.0 as f64), bytes(row.reachable.0 as f64)];
            table.row(figures, format!("{indent}{name}"));
        }
        table.print(out)
    })
}

/// The holder with a name: the whole name, or a part that only one has.
fn find(heap: &Heap<'_>, wanted: &str) -> Result<HolderId, Failure> {
    let holders = heap.graph.holders();
    let names: Vec<(HolderId, String)> = heap
        .snapshot
        .labels
        .iter()
        .map(|(label, _)| {
            (holders.label(label), query::label_path(&heap.snapshot.labels, label).join(" / "))
        })
        .chain(RootKind::ALL.iter().map(|kind| (holders.kind(*kind), kind.name().to_owned())))
        .collect();
    if let Some((holder, _)) = names.iter().find(|(_, name)| name == wanted) {
        return Ok(*holder);
    }
    let some: Vec<_> = names.iter().filter(|(_, name)| name.contains(wanted)).collect();
    match some.as_slice() {
        [(holder, _)] => Ok(*holder),
        [] => Err(Failure::new(Kind::Usage, format_args!("no root has `{wanted}` in its name"))
            .hint("`memtrail heap roots` lists them")),
        [(_, first), (_, second), ..] => Err(Failure::new(
            Kind::Usage,
            format_args!(
                "{} roots have `{wanted}` in their names: {first}, {second}, …",
                some.len()
            ),
        )
        .hint("give more of the name, or all of it")),
    }
}

pub(super) fn shared(args: &SharedArgs) -> Result<ExitCode, Failure> {
    let input = args.which.open()?;
    let heap = input.heap()?;
    let shared = query::shared(&heap, find(&heap, &args.a)?, find(&heap, &args.b)?);
    input.answer(&heap, args.which.json, &shared, |out| {
        let mut table = Table::new(&["size"], "reachable from");
        for (name, size) in shared.names.iter().zip(shared.reachable) {
            table.row(vec![bytes(size.0 as f64)], name.as_str());
        }
        table.row(vec![bytes(shared.common.0 as f64)], "both");
        table.print(out)
    })
}
