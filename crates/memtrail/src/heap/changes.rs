//! `memtrail heap diff` and `growth`: what changed between snapshots.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memtrail_heap::query::{self, Change, Summary};

use super::input::{Form, Input, patiently, put, snapshots};
use super::table::Table;
use crate::canvas::{Canvas, FAINT, PLAIN};
use crate::error::{Failure, Kind};
use crate::limit::Limit;
use crate::units::{bytes, count, grouped};
use crate::view::snapshot_file;

/// Compares two snapshots of a program
///
/// Kinds of blocks by their own size, roots by what they retain; what grew most comes first.
#[derive(clap::Args)]
pub(crate) struct DiffArgs {
    /// The earlier: a snapshot (NNNN.heap), or a recording, of which it is the last snapshot, or the
    /// first if nothing else is named
    before: PathBuf,
    /// The later: a snapshot, or a recording, of which it is the last; without it, the last of the
    /// same recording
    after: Option<PathBuf>,
    /// Maximum number of rows of each sort; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    limit: Limit,
    #[command(flatten)]
    form: Form,
}

/// Shows what grew from snapshot to snapshot, and nothing else
///
/// What goes up and down is no leak: listed are kinds of blocks and roots that are larger in later
/// snapshots than in earlier ones so often that chance makes it so once in a hundred times at most (the
/// test of Mann and Kendall). Brief dips do not matter. With fewer than five snapshots, each has to be
/// larger than the one before. "Grew by" is the median of the last quarter of the snapshots less that
/// of the first.
///
/// Each snapshot is analysed once; what is needed of it is left beside it (NNNN.heap.summary).
#[derive(clap::Args)]
pub(crate) struct GrowthArgs {
    /// A recording, or snapshots in the order they were taken
    #[arg(required = true, value_name = "REC")]
    paths: Vec<PathBuf>,
    /// Leave out so many snapshots at the start, while the program warms up
    #[arg(long, value_name = "N", default_value = "0")]
    skip: usize,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "30")]
    limit: Limit,
    #[command(flatten)]
    form: Form,
}

pub(super) fn diff(args: &DiffArgs) -> Result<ExitCode, Failure> {
    let earlier = snapshots(&args.before)?;
    let (first, later) = match &args.after {
        Some(after) => (earlier.last(), snapshots(after)?),
        None => (earlier.first(), earlier.clone()),
    };
    let (Some(first), Some(last)) = (first, later.last()) else {
        return Err(Failure::new(Kind::Input, "no snapshots to compare"));
    };
    if first == last {
        return Err(Failure::new(
            Kind::Usage,
            format_args!("{} has one snapshot only", args.before.display()),
        )
        .hint("name a second one to compare it with"));
    }
    let Limit(limit) = args.limit;
    let inputs = [Input::open(first)?, Input::open(last)?];
    let (before, after) = (inputs[0].heap()?, inputs[1].heap()?);
    let difference = query::diff(&before, &after).map_err(|error| inputs[1].failure(&error))?;
    let damage = inputs[0].damage(&before).or_else(|| inputs[1].damage(&after));
    put(&args.form, damage, &difference, |canvas| {
        let [from, to] = difference.bytes.map(|size| bytes(size.0 as f64));
        canvas.line(&[(PLAIN, &format!("kept alive: {from} before, {to} after"))]);
        for (title, changes) in [("kind", &difference.kinds), ("root", &difference.roots)] {
            if changes.is_empty() {
                continue;
            }
            canvas.gap();
            let mut table = Table::new(&["change", "before", "after"], title);
            for change in changes.iter().take(limit) {
                table.row(figures(change), change.name.as_str());
            }
            table.print(canvas);
            if changes.len() > limit {
                more(canvas, changes.len() - limit);
            }
        }
    })
}

fn more(canvas: &mut Canvas, left_out: usize) {
    canvas.line(&[(FAINT, &format!("… and {} more (--limit 0: all)", grouped(left_out as u64)))]);
}

fn figures(change: &Change) -> Vec<String> {
    let [before, after] = change.bytes;
    let sign = if after < before { "-" } else { "+" };
    vec![
        format!("{sign}{}", bytes(after.0.abs_diff(before.0) as f64)),
        bytes(before.0 as f64),
        bytes(after.0 as f64),
    ]
}

pub(super) fn growth(args: &GrowthArgs) -> Result<ExitCode, Failure> {
    let mut files = Vec::new();
    for path in &args.paths {
        files.append(&mut snapshots(path)?);
    }
    let files = files.get(args.skip..).unwrap_or_default();
    if files.len() < 2 {
        return Err(Failure::new(
            Kind::Usage,
            format_args!("growth needs two snapshots at least, and there is {}", files.len()),
        )
        .hint("take more: memtrail run --snapshot every-major -- PROGRAM"));
    }
    let Limit(limit) = args.limit;
    let summaries = files.iter().map(|file| summary(file)).collect::<Result<Vec<_>, _>>()?;
    let growth = query::growth(&summaries);
    let damage = files.iter().zip(&summaries).find_map(|(file, summary)| {
        Some(format!("{} is damaged {}", file.display(), summary.damage.as_ref()?))
    });
    put(&args.form, damage, &growth, |canvas| {
        if growth.is_empty() {
            let text = format!("nothing grew in {} snapshots", summaries.len());
            canvas.line(&[(PLAIN, &text)]);
            return;
        }
        let title = format!("grew in {} snapshots", summaries.len());
        let mut table = Table::new(&["grew by", "first", "last", ""], &title);
        for row in growth.iter().take(limit) {
            let first = row.bytes.first().map_or(0, |size| size.0);
            let last = row.bytes.last().map_or(0, |size| size.0);
            let sort = if row.is_root { "root" } else { "kind" };
            let figures = vec![
                bytes(row.grown.0 as f64),
                bytes(first as f64),
                bytes(last as f64),
                sort.into(),
            ];
            table.row(figures, row.name.as_str());
        }
        table.print(canvas);
        if growth.len() > limit {
            more(canvas, growth.len() - limit);
        }
    })
}

/// What was left of a snapshot when it was first analysed, or is left there now.
fn summary(path: &Path) -> Result<Summary, Failure> {
    let failure = |error: &dyn Display| {
        Failure::new(Kind::Input, format_args!("{}: {error}", path.display()))
            .hint("heap snapshots come from `memtrail run --snapshot` and `memtrail snapshot`")
    };
    // What cannot be read is said as all heap commands do.
    Input::open(path)?;
    let (facts, file) = snapshot_file::look(path, None);
    let message = format!("analysing {} blocks", count(facts.blocks as f64));
    patiently(message, || memtrail_engine::summary(&*file, &facts))
        .map_err(|refusal| failure(&refusal))
}
