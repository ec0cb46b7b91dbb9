//! `memtrail heap dominators`: what a root or block dominates.

use std::process::ExitCode;

use memtrail_engine::question::named;
use memtrail_heap::Bytes;
use memtrail_heap::graph::{Node, SUPER_ROOT};
use memtrail_heap::query::{self, Dominated};
use memtrail_text::rounded::{bytes, grouped};
use serde::Serialize;

use super::found::{Found, of_each};
use super::input::{Input, Which};
use super::table::{Table, outside};
use crate::canvas::{Canvas, FAINT, PLAIN};
use crate::error::Failure;
use crate::limit::Limit;

/// Walk down the dominator tree, by kind of block
///
/// Without further arguments: what all roots dominate directly. Each row has a number behind it
/// that goes one step down: --root N for roots, --block N for the largest block of a kind.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    /// Look below this root: its number, or its name as `roots` prints it
    #[arg(long, value_name = "ROOT", conflicts_with = "block")]
    root: Option<String>,
    /// Look below this block
    #[arg(long, value_name = "N")]
    block: Option<u32>,
    /// Maximum number of rows of each sort; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    limit: Limit,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if args.block.is_some() || args.root.as_deref().is_some_and(named::is_number) {
        // Numbers are those of one snapshot.
        return find(args, &args.which.open()?)?.put(&args.which.form, draw);
    }
    of_each(&args.which, |input| find(args, input), |below| below.size, draw)
}

/// The answer.
#[derive(Serialize)]
struct Below {
    #[serde(flatten)]
    dominated: Dominated,
    /// Rows of both sorts that `--limit` left out.
    left_out: usize,
    /// Sum of all rows below.
    #[serde(skip)]
    size: Bytes,
}

/// What the root, the block or all roots dominate.
fn find(args: &Args, input: &Input) -> Result<Found<Below>, Failure> {
    let heap = input.typed_heap()?;
    let node = match (args.block, &args.root) {
        (Some(block), _) => Node::Block(input.block(&heap, block)?),
        (None, Some(root)) => Node::RootNode(named::root(&heap, root)?),
        (None, None) => Node::RootNode(SUPER_ROOT),
    };
    let mut dominated = query::dominated(&heap, node).map_err(|error| input.failure(&error))?;
    let size = size(&dominated);
    let Limit(limit) = args.limit;
    let Dominated { root_nodes, groups, .. } = &mut dominated;
    let roots = root_nodes.split_off(root_nodes.len().min(limit)).len();
    let left_out = roots + groups.split_off(groups.len().min(limit)).len();
    Ok(Found::new(input, &heap, Below { dominated, left_out, size }))
}

/// Sizes of all that is below.
fn size(below: &Dominated) -> Bytes {
    let roots = below.root_nodes.iter().map(|row| row.retained + row.retained_external);
    let groups = below.groups.iter().map(|group| group.retained + group.retained_external);
    roots.chain(groups).sum()
}

fn draw(canvas: &mut Canvas, Below { dominated: below, left_out, .. }: &Below) {
    if below.root_nodes.is_empty() && below.groups.is_empty() {
        canvas.line(&[(PLAIN, "nothing is retained by it alone")]);
        return;
    }
    let headings = ["retained", "off-heap", "blocks", "own size", "largest", "a step down"];
    let mut table = Table::new(&headings, "");
    for row in &below.root_nodes {
        let mut figures = vec![bytes(row.retained.0 as f64), outside(row.retained_external)];
        figures.resize(headings.len() - 1, String::new());
        figures.push(format!("--root {}", row.root.0));
        table.row(figures, row.name.as_str());
    }
    for group in &below.groups {
        let several = group.blocks > 1;
        let figures = vec![
            bytes(group.retained.0 as f64),
            outside(group.retained_external),
            grouped(group.blocks),
            bytes(group.bytes.0 as f64),
            if several { bytes(group.largest_retained.0 as f64) } else { String::new() },
            format!("--block {}", group.largest.0),
        ];
        table.row(figures, group.kind.as_str());
    }
    table.print(canvas);
    if *left_out > 0 {
        canvas.line(&[(FAINT, &format!("… and {left_out} more (--limit 0: all)"))]);
    }
}
