//! `memtrail heap roots`: what holds memory from outside the heap.

use std::collections::BTreeMap;
use std::process::ExitCode;

use memtrail_engine::question::{OwnersQuestion, RetainingRoots, RootsQuestion};
use memtrail_heap::graph::{RootNode, RootNodeId, SUPER_ROOT};
use memtrail_heap::query::{Everything, RootRow, joint_name};
use memtrail_heap::{Bytes, RootKind};
use memtrail_text::rounded::{bytes, percent, ratio};

use super::ask::find;
use super::input::SnapshotArgs;
use super::named::{kind as named_kind, size as named_size};
use super::owners;
use super::table::{Table, Text, outside};
use super::title::Title;
use crate::answer::{Printer, Recipient};
use crate::canvas::{Canvas, FAINT, PLAIN};
use crate::error::Failure;
use crate::limit::{Limit, draw_left_out};
use crate::recording_source::Subject;

/// List the roots that own most memory
///
/// A root refers to a value from outside the heap: a module's global, a slot on a stack, a C
/// variable, a finaliser. Every block that is reachable has one owner: the nearest variable that
/// reaches it, or else a closure or module, a C variable, a stack frame, in this order. So the rows
/// add up. Roots that hold the very same block are one row, named by the variable's definition.
///
/// With the NAME of a root, show all about it: what it owns and retains, and what it shares with whom.
#[derive(clap::Args)]
#[command(after_help = "\
\"Retained\" is what would be freed without a root and its aliases: what it owns beyond that can be
reached from other roots, too. --retained lists exact retained sizes alone. Its rows nest: a kind of
roots, a module of it, each of its fields; a thread and each of its frames. Rows `jointly retained` are
what several of them have to release for it to be freed; `memtrail heap joint` opens them.
  memtrail heap roots REC Cache.table         what one variable owns, and shares with whom
  memtrail heap roots REC --retained          what each root retains alone
  memtrail heap dominators REC                what all roots dominate, by kind
  memtrail heap roots REC --sort reachable    which roots reach most")]
pub(crate) struct Args {
    #[command(flatten)]
    which: SnapshotArgs,
    /// Only the root with this name, or those with this in their names; `memtrail types REC` names
    /// variables: Cache.table
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// List what each root retains alone, and what several retain jointly
    #[arg(long)]
    retained: bool,
    /// Leave out what owns less (--retained: retains; --sort reachable: reaches): 100k, 1M, 2GiB
    #[arg(long, value_name = "SIZE", default_value = "1", value_parser = named_size, hide_default_value = true)]
    min: Bytes,
    /// Only one kind: global, stack, local-c, global-c, finaliser, memprof, hook, domain,
    /// ephemeron, static, other
    #[arg(long, value_parser = named_kind)]
    kind: Option<RootKind>,
    /// What comes first
    #[arg(long, value_enum, default_value_t = Sort::Owned)]
    sort: Sort,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "30")]
    limit: Limit,
}

/// What comes first.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Sort {
    /// What it owns; with --retained, what would be freed without it
    Owned,
    /// What is reachable from it, whatever else reaches it; one list, not nested
    Reachable,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    answer(args, Printer)
}

/// Gives the answer to a recipient.
pub(crate) fn answer<R: Recipient>(args: &Args, recipient: R) -> Result<R::Received, Failure> {
    let (Limit(limit), which) = (args.limit, &args.which);
    let (name, kind, min) = (args.name.clone(), args.kind, args.min.max(Bytes(1)));
    let subject = which.subject()?;
    if args.retained || args.sort == Sort::Reachable {
        let by_reach = args.sort == Sort::Reachable;
        let question = RootsQuestion { name, kind, min, by_reach, limit };
        let found = find(&subject, which, &question)?;
        return found.give(recipient, &which.form, |canvas, roots, _| draw(canvas, args, roots));
    }
    let describe = matches!(subject, Subject::One(_));
    let question = OwnersQuestion { name, kind, min, count_blocks: false, describe, limit };
    let found = find(&subject, which, &question)?;
    found.give(recipient, &which.form, |canvas, owners, family| {
        if owners.rows.is_empty() {
            nothing(canvas, args, ["own", "own anything"]);
        } else {
            owners::draw(canvas, owners, family);
        }
    })
}

fn draw(canvas: &mut Canvas, args: &Args, roots: &RetainingRoots) {
    match (roots.rows.is_empty(), args.sort) {
        (true, _) => nothing(canvas, args, ["retain", "retain anything by themselves"]),
        (false, _) if args.name.is_some() => list(canvas, roots),
        (false, Sort::Owned) => nested(canvas, roots, args.kind.is_none()),
        (false, Sort::Reachable) => list(canvas, roots),
    }
    draw_left_out(canvas, roots.left_out, "");
}

fn nothing(canvas: &mut Canvas, args: &Args, [verb, anything]: [&str; 2]) {
    let kind = args.kind.map_or_else(String::new, |kind| format!("{} ", kind.name()));
    let text = if args.min.0 > 1 {
        format!("no {kind}roots {verb} {}", bytes(args.min.0 as f64))
    } else {
        format!("no {kind}roots {anything}")
    };
    canvas.line(&[(PLAIN, &text)]);
}

fn figures(retained: [Bytes; 2], all: Bytes) -> Vec<String> {
    vec![
        bytes(retained[0].0 as f64),
        percent(ratio(retained[0].0 as f64, all.0 as f64)),
        outside(retained[1]),
    ]
}

fn row_figures(row: &RootRow, all: Bytes) -> Vec<String> {
    let mut figures = figures([row.retained, row.retained_external], all);
    figures.push(bytes(row.reachable.0 as f64));
    figures
}

/// Rows below those that they are part of, each with what its parts retain jointly.
fn nested(canvas: &mut Canvas, answer: &RetainingRoots, whole: bool) {
    let all = answer.everything.retained;
    let mut parts: BTreeMap<RootNodeId, Vec<&RootRow>> = BTreeMap::new();
    for row in &answer.rows {
        parts.entry(row.part_of).or_default().push(row);
    }
    // What is smaller than all that is shown, or a trifle, is not worth a line.
    let least = answer.rows.iter().map(|row| row.retained + row.retained_external).min();
    let least = least.unwrap_or_default().max(Bytes(all.0 / 100)).max(Bytes(1));
    let mut table = Table::new(&["retained", "", "off-heap", "reachable"], "root");
    let jointly_retained = |table: &mut Table, size: [Bytes; 2], depth: usize, of: RootNode| {
        if size[0] + size[1] >= least {
            // The heading has said that they are roots.
            let name = joint_name(of).trim_end_matches(" of roots");
            let text = format!("{}{name}", "  ".repeat(depth));
            table.faint(figures(size, all), text);
        }
    };
    if whole {
        let Everything {
            retained_external,
            jointly_retained: several,
            jointly_retained_external,
            ..
        } = answer.everything;
        table.strong(figures([all, retained_external], all), "retained by all roots");
        let sizes = [several, jointly_retained_external];
        jointly_retained(&mut table, sizes, 1, RootNode::Everything);
    }
    // From the last to the first, as a stack gives them back.
    let mut todo: Vec<(usize, &RootRow)> = Vec::new();
    let push = |todo: &mut Vec<_>, above: RootNodeId, depth: usize| {
        let below = parts.get(&above).into_iter().flatten().rev();
        todo.extend(below.map(|row| (depth, *row)));
    };
    push(&mut todo, SUPER_ROOT, usize::from(whole));
    while let Some((depth, row)) = todo.pop() {
        let name = row.path.last().map_or(row.kind, String::as_str);
        table.row(row_figures(row, all), titled(format!("{}{name}", "  ".repeat(depth)), row));
        let sizes = [row.jointly_retained, row.jointly_retained_external];
        jointly_retained(&mut table, sizes, depth + 1, answer.root_nodes.get(row.root));
        push(&mut todo, row.root, depth + 1);
    }
    table.print(canvas);
    let jointly_retained = answer
        .rows
        .iter()
        .map(|row| row.jointly_retained)
        .chain([answer.everything.jointly_retained]);
    if whole && jointly_retained.max().unwrap_or_default().0 > all.0 / 4 {
        let text = "jointly retained: `memtrail heap joint` shows by which roots, and what to cut to free it; \
                    --sort reachable lists the roots that reach most";
        canvas.paragraph(FAINT, 2, text);
    }
}

fn titled(name: String, row: &RootRow) -> Title {
    Title { name, ty: row.r#type.clone(), position: row.position.clone() }
}

fn list(canvas: &mut Canvas, answer: &RetainingRoots) {
    let mut table = Table::new(&["retained", "", "off-heap", "reachable", "kind"], "root");
    for row in &answer.rows {
        let name = match &row.variable {
            _ if row.path.is_empty() => Text::from("(all of them)"),
            Some(name) => titled(name.clone(), row).into(),
            None => row.path.join(" / ").into(),
        };
        let mut figures = row_figures(row, answer.everything.retained);
        figures.push(row.kind.to_owned());
        table.row(figures, name);
    }
    table.print(canvas);
}
