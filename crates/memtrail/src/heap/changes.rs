//! `memtrail heap diff` and `growth`: what changed between snapshots.

use std::path::PathBuf;
use std::process::ExitCode;

use memtrail_heap::query::{self, Change, Measured};

use super::input::{Form, Input, snapshots};
use super::table::Table;
use crate::canvas::{Canvas, FAINT, PLAIN};
use crate::error::{Failure, Kind};
use crate::units::{bytes, grouped};

/// Compares two snapshots of a program
///
/// Kinds of blocks by their own size, roots by what they retain; what grew most comes first.
#[derive(clap::Args)]
pub(crate) struct DiffArgs {
    /// The earlier: a snapshot (NNNN.heap), or a recording, of which it is the first
    before: PathBuf,
    /// The later; without it, the last of the same recording
    after: Option<PathBuf>,
    /// Show at most so many of each sort; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    limit: usize,
    #[command(flatten)]
    form: Form,
}

/// Shows what grew from each snapshot to the next, and nothing else
///
/// What goes up and down is no leak: only kinds of blocks and roots that are larger in every
/// snapshot than in the one before are listed.
#[derive(clap::Args)]
pub(crate) struct GrowthArgs {
    /// A recording, or snapshots in the order they were taken
    #[arg(required = true, value_name = "REC")]
    paths: Vec<PathBuf>,
    /// Leave out so many snapshots at the start, while the program warms up
    #[arg(long, value_name = "N", default_value = "0")]
    skip: usize,
    /// Show at most so many; 0 for all
    #[arg(long, value_name = "N", default_value = "30")]
    limit: usize,
    #[command(flatten)]
    form: Form,
}

pub(super) fn diff(args: &DiffArgs) -> Result<ExitCode, Failure> {
    let earlier = snapshots(&args.before)?;
    let later = args.after.as_deref().map_or_else(|| Ok(earlier.clone()), snapshots)?;
    let (Some(first), Some(last)) = (earlier.first(), later.last()) else {
        return Err(Failure::new(Kind::Input, "no snapshots to compare"));
    };
    if first == last {
        return Err(Failure::new(
            Kind::Usage,
            format_args!("{} has one snapshot only", args.before.display()),
        )
        .hint("name a second one to compare it with"));
    }
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    let inputs = [Input::open(first)?, Input::open(last)?];
    let (before, after) = (inputs[0].heap()?, inputs[1].heap()?);
    let difference = query::diff(&before, &after).map_err(|error| inputs[1].failure(&error))?;
    args.form.put(&difference, |canvas| {
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
    })?;
    Ok(ExitCode::SUCCESS)
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
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    let mut measured = Vec::new();
    for file in files {
        let input = Input::open(file)?;
        let heap = input.heap()?;
        measured.push(Measured::new(&heap).map_err(|error| input.failure(&error))?);
    }
    let growth = query::growth(&measured);
    args.form.put(&growth, |canvas| {
        if growth.is_empty() {
            let text = format!("nothing grew in all of {} snapshots", measured.len());
            canvas.line(&[(PLAIN, &text)]);
            return;
        }
        let title = format!("grew each time, in {} snapshots", measured.len());
        let mut table = Table::new(&["grew by", "first", "last", ""], &title);
        for row in growth.iter().take(limit) {
            let first = row.bytes.first().map_or(0, |size| size.0);
            let last = row.bytes.last().map_or(0, |size| size.0);
            let sort = if row.is_root { "root" } else { "kind" };
            let figures = vec![
                bytes(last.saturating_sub(first) as f64),
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
    })?;
    Ok(ExitCode::SUCCESS)
}
