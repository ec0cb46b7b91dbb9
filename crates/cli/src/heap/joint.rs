//! `memtrail heap joint`: what several roots retain jointly, and what has to be cut to free it.

use std::collections::BTreeSet;
use std::process::ExitCode;

use memtrail_engine::question::{JointQuestion, JointShares, MAX_CUT, named};
use memtrail_heap::Bytes;
use memtrail_heap::query::{CutReference, JointBlock, JointShare};
use memtrail_text::rounded::{bytes, grouped, percent};

use super::ask::ask_about;
use super::input::SnapshotArgs;
use super::named::size as named_size;
use super::owners::HOLDS;
use super::table::{Table, outside};
use super::title::field_of;
use crate::canvas::{Canvas, FAINT, PLAIN};
use crate::error::Failure;
use crate::limit::Limit;

/// Roots that are printed of those that reach a block.
const PRINTED_ROOTS: usize = 4;

/// Open what several roots retain jointly: who reaches it, and what to cut to free it
///
/// Lists what no single root retains, as the rows `jointly retained` of `memtrail heap roots REC --retained`
/// do: by several kinds of roots, by several modules, by several variables of a module. Of each the largest
/// blocks are shown, the roots that reach them, and the fewest references that have to be removed for
/// such a block to be freed. Of several sets that are as small it is the one nearest to the roots.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: SnapshotArgs,
    /// Only what parts of this root retain jointly: a kind of roots, a module, a thread; by name or number
    #[arg(value_name = "ROOT")]
    root: Option<String>,
    /// Leave out what is smaller: 100k, 1M, 2GiB [default: 1 % of all that is retained]
    #[arg(long, value_name = "SIZE", value_parser = named_size)]
    min: Option<Bytes>,
    /// Maximum number of blocks of each; 0 for all
    #[arg(long, value_name = "N", default_value = "5")]
    limit: Limit,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let (Limit(blocks), which) = (args.limit, &args.which);
    let is_of_one = args.root.as_deref().is_some_and(named::is_number);
    let subject = if is_of_one { which.only()? } else { which.subject()? };
    let question = JointQuestion { root: args.root.clone(), min: args.min, blocks };
    ask_about(&subject, which, &question, |canvas, shares, _| draw(canvas, shares))
}

fn draw(canvas: &mut Canvas, answer: &JointShares) {
    if answer.rows.is_empty() {
        let text = format!("nothing of {} or more is retained jointly", bytes(answer.min.0 as f64));
        canvas.line(&[(PLAIN, &text)]);
    }
    for (place, share) in answer.rows.iter().enumerate() {
        if place > 0 {
            canvas.gap();
        }
        draw_share(canvas, share);
    }
}

/// What is retained jointly by parts of one root.
fn draw_share(canvas: &mut Canvas, share: &JointShare) {
    let of = match (share.kind, share.path.join(" / ")) {
        // The words name these.
        (None | Some("global" | "stack"), path) if path.is_empty() => String::new(),
        (kind, path) if path.is_empty() => format!(" of {}", kind.unwrap_or_default()),
        (_, path) => format!(" of {path}"),
    };
    let mut table = Table::new(&["retained", "", "off-heap"], "block");
    let size = |size: Bytes| bytes(size.0 as f64);
    let figures =
        vec![size(share.retained), percent(share.share), outside(share.retained_external)];
    table.strong(figures, format!("{}{of}", share.parts));
    for block in &share.blocks {
        let figures = vec![size(block.retained), String::new(), outside(block.retained_external)];
        table.row(figures, format!("{}  (--block {})", block.kind, block.block.0));
        if let Some(by) = &block.allocated {
            table.faint(Vec::new(), format!("  {}", by.text()));
        }
        for line in explained(block).into_iter().chain(held(block)) {
            table.faint(Vec::new(), format!("  {line}"));
        }
    }
    table.print(canvas);
    if share.left_out > 0 {
        let (count, size) = (grouped(share.left_out), size(share.left_out_retained));
        let text = format!("… and {count} more, which retain {size} (--limit 0: all)");
        canvas.line(&[(FAINT, &text)]);
    }
}

/// Who reaches a block, and what to cut to free it.
fn explained(block: &JointBlock) -> Vec<String> {
    let names: Vec<&str> =
        block.reached_by.iter().take(PRINTED_ROOTS).map(|root| root.name.as_str()).collect();
    let more = block.reaching.saturating_sub(names.len() as u64);
    let reached = match names.as_slice() {
        [] => String::new(),
        [one] if more == 0 => format!("reached by {one}"),
        [first @ .., last] if more == 0 => format!("reached by {} and {last}", first.join(", ")),
        all => format!("reached by {} and {} more", all.join(", "), grouped(more)),
    };
    let Some(cut) = &block.cut else {
        return vec![reached, format!("more than {MAX_CUT} references have to be cut to free it")];
    };
    let are_all_roots = cut.iter().all(|one| one.block.is_none() && one.to.is_none());
    let is_the_same = are_all_roots
        && cut.len() as u64 == block.reaching
        && cut.iter().all(|one| names.contains(&one.name.as_str()));
    let what = match cut.len() {
        1 if are_all_roots => "cut that one to free it".to_owned(),
        1 => "cut one reference to free it".to_owned(),
        2 if is_the_same => "cut both to free it".to_owned(),
        count if is_the_same => format!("cut all {count} to free it"),
        count => format!("cut {count} references to free it"),
    };
    if is_the_same {
        return vec![format!("{reached}; {what}")];
    }
    let mut lines = vec![reached, format!("{what}:")];
    lines.extend(cut.iter().map(|one| format!("  {}", reference(one))));
    lines
}

/// What variables without a name hold that are named in the lines above.
fn held(block: &JointBlock) -> BTreeSet<String> {
    let reaching = block.reached_by.iter().take(PRINTED_ROOTS);
    let reaching = reaching.map(|root| (&root.name, &root.holds));
    let cut = block.cut.iter().flatten().map(|cut| (&cut.name, &cut.holds));
    let text = |(name, holds): (&String, &Option<String>)| {
        holds.as_ref().map(|holds| format!("{name} {HOLDS} {holds}"))
    };
    reaching.chain(cut).filter_map(text).collect()
}

/// A reference that has to be cut.
fn reference(cut: &CutReference) -> String {
    match (cut.block, &cut.block_kind, cut.to) {
        (Some(block), Some(kind), _) => {
            let field = field_of(cut.field_name.as_deref(), cut.field);
            format!("{kind}{field} (--block {}), owned by {}", block.0, cut.name)
        }
        (_, _, Some(to)) => format!("{}, of what it holds block {}", cut.name, to.0),
        _ => cut.name.clone(),
    }
}
