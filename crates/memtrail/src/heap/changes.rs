//! `memtrail heap diff` and `growth`: what changed between snapshots.

use std::path::PathBuf;
use std::process::ExitCode;

use memtrail_heap::query::{self, Change, Measured};

use super::input::{Input, put, snapshots};
use super::table::Table;
use crate::error::{Failure, Kind};
use crate::units::bytes;

/// Compares two snapshots of a program
///
/// Kinds of blocks by their own size, roots by what they retain; what grew most comes first.
#[derive(clap::Args)]
pub(crate) struct DiffArgs {
    /// The earlier: a snapshot (NNNN.heap), or a recording, of which it is the first
    before: PathBuf,
    /// The later; without it, the last of the same recording
    after: Option<PathBuf>,
    /// Show at most so many of each sort
    #[arg(long, value_name = "N", default_value = "20")]
    limit: usize,
    /// Print one JSON object; sizes in bytes
    #[arg(long)]
    json: bool,
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
    /// Show at most so many
    #[arg(long, value_name = "N", default_value = "30")]
    limit: usize,
    /// Print one JSON object; sizes in bytes
    #[arg(long)]
    json: bool,
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
    let inputs = [Input::open(first)?, Input::open(last)?];
    let (before, after) = (inputs[0].heap()?, inputs[1].heap()?);
    let difference = query::diff(&before, &after).map_err(|error| inputs[1].failure(&error))?;
    put(args.json, &difference, |out| {
        let [from, to] = difference.bytes;
        writeln!(
            out,
            "kept alive: {} before, {} after\n",
            bytes(from.0 as f64),
            bytes(to.0 as f64)
        )?;
        for (title, changes) in [("kind", &difference.kinds), ("root", &difference.roots)] {
            let mut table = Table::new(&["change", "before", "after"], title);
            for change in changes.iter().take(args.limit) {
                table.row(figures(change), change.name.as_str());
            }
            table.print(out)?;
            if changes.len() > args.limit {
                writeln!(out, "… and {} more", changes.len() - args.limit)?;
            }
            writeln!(out)?;
        }
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
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
    let mut measured = Vec::new();
    for file in files {
        let input = Input::open(file)?;
        let heap = input.heap()?;
        measured.push(Measured::new(&heap).map_err(|error| input.failure(&error))?);
    }
    let growth = query::growth(&measured);
    put(args.json, &growth, |out| {
        if growth.is_empty() {
            return writeln!(out, "nothing grew in all of {} snapshots", measured.len());
        }
        let mut table =
            Table::new(&["first", "last", ""], &format!("grew in all of {}", measured.len()));
        for row in growth.iter().take(args.limit) {
            let size = |bytes_of: Option<&memtrail_heap::Bytes>| {
                bytes_of.map_or_else(String::new, |size| bytes(size.0 as f64))
            };
            let sort = if row.is_root { "root" } else { "kind" };
            let figures = vec![size(row.bytes.first()), size(row.bytes.last()), sort.into()];
            table.row(figures, row.name.as_str());
        }
        table.print(out)?;
        if growth.len() > args.limit {
            writeln!(out, "… and {} more", growth.len() - args.limit)?;
        }
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}
