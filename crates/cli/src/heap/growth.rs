//! `memtrail heap growth`: what grew from snapshot to snapshot.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memtrail_engine::question::{Family, FamilyForm, Member, Merge, OfMember, Selection};
use memtrail_heap::query::{self, Growth, RootsBy, Summary};
use memtrail_heap::{Bytes, RootKind};
use memtrail_order::SortRows as _;
use memtrail_text::rounded::{bytes, count, grouped};
use serde::Serialize;

use super::ask::gather;
use super::input::{Input, place_in, snapshots};
use super::named::{By, with_kind};
use super::owners;
use super::read::Read;
use super::snapshot_name::SnapshotName;
use super::table::{Table, outside};
use crate::answer::OutputArgs;
use crate::canvas::{Canvas, FAINT, PLAIN};
use crate::error::{Failure, Kind};
use crate::limit::{Limit, draw_left_out};
use crate::recording_source::{Need, Process, Subject};
use crate::snapshot_file::{MemoryArgs, SnapshotFiles};
use crate::spinner::with_spinner;

/// Show what grew from snapshot to snapshot, and nothing else
///
/// Lists the kinds of blocks and the owners that rise over the snapshots, by the test of Mann and Kendall (p < 0.01).
/// Brief dips do not matter. With fewer than five snapshots, each must be larger than the one before.
///
/// "Grew by" is the median of the last quarter of the snapshots less the median of the first. Sizes include off-heap
/// memory: `off-heap` is its part of `last`.
///
/// Each snapshot is analysed once; what is needed of it is left beside it (NNNN.heap.summary).
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A recording, or snapshots in the order they were taken
    #[arg(required = true, value_name = "REC")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    process: Process,
    /// Leave out so many snapshots at the start, while the program warms up
    #[arg(long, value_name = "N", default_value = "0")]
    skip: usize,
    /// Begin with the snapshot of this number, or the last with this label (Memtrail.dump)
    #[arg(long, value_name = "N|LABEL", conflicts_with = "skip")]
    from: Option<String>,
    /// End with the snapshot of this number, or the last with this label
    #[arg(long, value_name = "N|LABEL")]
    to: Option<String>,
    /// Roots by what they own, or by what each retains alone
    #[arg(long, value_enum, default_value_t = By::Owner)]
    by: By,
    /// Maximum number of rows; 0 for all
    #[arg(long, value_name = "N", default_value = "30")]
    limit: Limit,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    form: OutputArgs,
}

/// The answer.
#[derive(Clone, Serialize)]
struct Grown {
    /// The first and the last snapshot; those of several processes are not the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshots: Option<[SnapshotName; 2]>,
    /// Owners, roots and kinds that grew in a process, most grown first.
    rows: Vec<OfMember<Growth>>,
    /// Rows that `--limit` left out.
    left_out: usize,
    /// The number of snapshots of one process.
    #[serde(skip)]
    number: usize,
}

impl Merge for Grown {
    type Order = ();

    const OF_FAMILY: FamilyForm = FamilyForm::Sum;

    fn name_process(&mut self, process: &Member) {
        self.snapshots = None;
        self.rows.iter_mut().for_each(|row| row.name_process(process));
    }

    fn merge(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.rows.sort_rows_by_key(|of| Reverse(of.row.grown));
    }

    fn finish(&mut self, selection: &Selection) {
        self.left_out = selection.cut(&mut self.rows);
    }
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let Limit(limit) = args.limit;
    let one = |path: &PathBuf| {
        if path.is_dir() { args.process.one(path, Need::Snapshots) } else { Ok(path.clone()) }
    };
    let (subject, paths) = match args.paths.as_slice() {
        [only] => (args.process.subject(only, Need::Snapshots)?, Vec::new()),
        several => {
            let paths = several.iter().map(one).collect::<Result<Vec<_>, _>>()?;
            (Subject::One(paths[0].clone()), paths)
        }
    };
    let is_family = matches!(subject, Subject::Family(_));
    let asked = gather(&subject, Selection::first((), limit), |path, member, reduction, read| {
        let only = [path.to_path_buf()];
        let files = chosen(args, if paths.is_empty() { &only[..] } else { &paths[..] })?;
        if files.len() < 2 {
            return Err(if is_family {
                too_few("no process has two").absent()
            } else {
                too_few(&format!("there is {}", files.len()))
            });
        }
        reduction.add(member, grown(args, &files, read)?);
        Ok(())
    });
    asked?.absent_because("with one snapshot only").put(&args.form, |canvas, grown, family| {
        draw(canvas, args, grown, family);
    })
}

fn draw(canvas: &mut Canvas, args: &Args, grown: &Grown, family: Option<&Family<Grown>>) {
    if let Some([first, last]) = &grown.snapshots {
        canvas.paragraph(FAINT, 2, &format!("first: {first}, last: {last}"));
    }
    let (of, each) = match family {
        Some(family) => {
            (format!("{} processes", grouped(family.processes.len() as u64)), ", each by itself")
        }
        None => (format!("{} snapshots", grown.number), ""),
    };
    if grown.rows.is_empty() {
        canvas.line(&[(PLAIN, &format!("nothing grew in {of}"))]);
        return;
    }
    let mut table = Table::new(&GROWN, &format!("grew in {of}{each}"));
    for OfMember { process, row, .. } in &grown.rows {
        let process = process.as_ref().map_or_else(String::new, |name| format!(", {name}"));
        let name = with_kind(row.kind.as_ref(), &row.name);
        table.row(figures(args, row), format!("{name}{process}"));
        owners::add_holds(&mut table, row.holds.as_deref());
    }
    table.print(canvas);
    draw_left_out(canvas, grown.left_out, "");
}

/// The error about too few snapshots.
fn too_few(how_many: &str) -> Failure {
    let message = format_args!("growth needs two snapshots at least, and {how_many}");
    Failure::new(Kind::Usage, message)
        .hint("take more: memtrail run --snapshot every-major -- PROGRAM")
}

/// The snapshots that are asked for, of some recordings.
fn chosen(args: &Args, paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        files.append(&mut snapshots(path)?);
    }
    let place =
        |wanted: &Option<String>| wanted.as_deref().map(|w| place_in(&files, w)).transpose();
    let (from, to) = (place(&args.from)?, place(&args.to)?);
    let until = to.map_or(files.len(), |to| to + 1);
    Ok(files.get(from.unwrap_or(args.skip)..until).unwrap_or_default().to_vec())
}

/// Finds what grew in some snapshots.
fn grown(args: &Args, files: &[PathBuf], read: &mut Read) -> Result<Grown, Failure> {
    let mut known = None;
    let summaries = files
        .iter()
        .map(|file| summary(file, args.memory, &mut known))
        .collect::<Result<Vec<_>, _>>()?;
    let by = match args.by {
        By::Owner => RootsBy::Owned,
        By::Root => RootsBy::Retained,
    };
    let mut growth = query::growth(&summaries, by);
    if let (By::Owner, Some(last)) = (args.by, files.last()) {
        name_variables(last, args.memory, &mut growth)?;
    }
    read.damaged(files.iter().zip(&summaries).find_map(|(file, summary)| {
        Some(format!("{} is damaged {}", file.display(), summary.damage.as_ref()?))
    }));
    let ends = [&files[0], &files[files.len() - 1]];
    let rows = growth.into_iter().map(OfMember::from).collect();
    let snapshots = Some(ends.map(|file| SnapshotName::of(file)));
    Ok(Grown { snapshots, rows, left_out: 0, number: files.len() })
}

/// Columns before the name.
const GROWN: [&str; 5] = ["grew by", "first", "last", "off-heap", ""];

/// Its figures.
fn figures(args: &Args, row: &Growth) -> Vec<String> {
    let size = |size: Option<Bytes>| bytes(size.unwrap_or_default().0 as f64);
    let (first, last) = (size(row.sizes().next()), size(row.sizes().next_back()));
    let off_heap = outside(row.external.last().copied().unwrap_or_default());
    let sort = match args.by {
        _ if !row.is_root => "kind",
        By::Owner => "owner",
        By::Root => "root",
    };
    vec![bytes(row.grown.0 as f64), first, last, off_heap, sort.into()]
}

/// Names global variables that grew, or adds what they hold, by the last snapshot: only if there are any it is opened.
fn name_variables(last: &Path, memory: MemoryArgs, growth: &mut [Growth]) -> Result<(), Failure> {
    let is_variable = |row: &Growth| row.kind.as_deref() == Some(RootKind::Global.name());
    if !growth.iter().any(is_variable) {
        return Ok(());
    }
    let input = Input::open(last, memory)?;
    let heap = input.typed_heap()?;
    let variables = growth.iter().filter(|row| is_variable(row));
    let wanted: BTreeSet<&str> = variables.map(|row| row.name.as_str()).collect();
    let held = query::held_by_stored(&heap, &wanted).map_err(|error| input.failure(&error))?;
    let names = query::stored_names(&heap);
    for row in growth {
        if is_variable(row) {
            row.holds = held.get(&row.name).cloned();
        }
        let known = row.kind.clone().and_then(|kind| names.get(&(kind, row.name.clone())));
        if let Some(known) = known {
            row.name.clone_from(known);
        }
    }
    Ok(())
}

/// Reads the summary that the first analysis left beside a snapshot, or makes it.
/// `files` are those of the last one's folder.
fn summary(
    path: &Path,
    memory: MemoryArgs,
    files: &mut Option<(PathBuf, SnapshotFiles)>,
) -> Result<Summary, Failure> {
    let failure = |error: &dyn Display| {
        Failure::new(Kind::Input, format_args!("{}: {error}", path.display()))
            .hint("heap snapshots come from `memtrail run --snapshot` and `memtrail snapshot`")
    };
    // A file that cannot be read has the same error as in all heap commands.
    Input::open(path, memory)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    if files.as_ref().is_none_or(|(of, _)| of != folder) {
        *files = Some((folder.to_path_buf(), SnapshotFiles::of_recording(folder, memory)));
    }
    let files =
        files.as_ref().map_or_else(|| SnapshotFiles::alone(memory), |(_, files)| files.clone());
    let (facts, file) = files.open(path, None);
    let message = format!("analysing {} blocks", count(facts.blocks as f64));
    with_spinner(message, || memtrail_engine::summary(&*file, &facts))
        .map_err(|api_error| failure(&api_error))
}
