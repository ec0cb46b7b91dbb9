//! `memtrail heap diff` and `growth`: what changed between snapshots.

use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memtrail_heap::query::{self, Change, Growth, Heap, RootsBy, Summary};
use memtrail_heap::{Bytes, RootKind};
use memtrail_text::rounded::{bytes, count, grouped};
use serde::Serialize;

use super::family;
use super::input::{Input, choose, number_of, place_in, snapshots};
use super::owners;
use super::table::{Table, outside};
use crate::answer::{Form, put};
use crate::canvas::{Canvas, FAINT, PLAIN};
use crate::error::{Failure, Kind};
use crate::limit::Limit;
use crate::recording_source::{Need, Process};
use crate::snapshot_file::{self, MemoryArgs, SnapshotFiles};
use crate::spinner::with_spinner;

/// Compare two snapshots of a program
///
/// Owners by what is attributed to them (see `heap roots`), kinds of blocks by their own size; the largest
/// change comes first. Sizes include off-heap memory: `off-heap` is its part of `after`. Of programs with their children, sums over all processes are compared.
#[derive(clap::Args)]
pub(crate) struct DiffArgs {
    /// The earlier: a snapshot (NNNN.heap), or a recording, of which it is the last snapshot, or the
    /// first if nothing else is named
    pub(super) before: PathBuf,
    /// The later: a snapshot, or a recording, of which it is the last; without it, the last of the
    /// same recording
    pub(super) after: Option<PathBuf>,
    #[command(flatten)]
    pub(super) process: Process,
    /// Of the earlier recording the snapshot with this number, or the last with this label
    /// (Memtrail.dump)
    #[arg(long, value_name = "N|LABEL")]
    pub(super) from: Option<String>,
    /// The same of the later, or of the only recording
    #[arg(long, value_name = "N|LABEL")]
    pub(super) to: Option<String>,
    /// Roots by what they own, or by what each retains alone
    #[arg(long, value_enum, default_value_t = By::Owner)]
    pub(super) by: By,
    /// Maximum number of rows of each sort; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    pub(super) limit: Limit,
    #[command(flatten)]
    pub(super) memory: MemoryArgs,
    #[command(flatten)]
    pub(super) form: Form,
}

/// Show what grew from snapshot to snapshot, and nothing else
///
/// What goes up and down is no leak: listed are kinds of blocks and owners that are larger in later
/// snapshots than in earlier ones so often that chance makes it so once in a hundred times at most (the
/// test of Mann and Kendall). Brief dips do not matter. With fewer than five snapshots, each has to be
/// larger than the one before. "Grew by" is the median of the last quarter of the snapshots less that
/// of the first. Sizes include off-heap memory: `off-heap` is its part of `last`.
///
/// Each snapshot is analysed once; what is needed of it is left beside it (NNNN.heap.summary).
#[derive(clap::Args)]
pub(crate) struct GrowthArgs {
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
    pub(super) limit: Limit,
    #[command(flatten)]
    pub(super) memory: MemoryArgs,
    #[command(flatten)]
    pub(super) form: Form,
}

/// By which figures roots are compared.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum By {
    /// What is attributed to each owner: figures that add up
    Owner,
    /// What each root retains alone, and what several retain jointly
    Root,
}

pub(super) fn diff(args: &DiffArgs) -> Result<ExitCode, Failure> {
    let several = |path: &PathBuf| args.process.several(path, Need::Snapshots);
    let before = several(&args.before)?;
    let after = args.after.as_ref().map(several).transpose()?.flatten();
    if before.is_some() || after.is_some() {
        return family::diff(args, before, after);
    }
    let of_before = args.process.one(&args.before, Need::Snapshots)?;
    let of_after = match &args.after {
        Some(after) => args.process.one(after, Need::Snapshots)?,
        None => of_before.clone(),
    };
    let earlier = snapshots(&of_before)?;
    let first = match (&args.from, &args.after, earlier.first()) {
        (None, None, Some(first)) => first.clone(),
        (from, ..) => choose(&of_before, from.as_deref())?,
    };
    let last = choose(&of_after, args.to.as_deref())?;
    if first == last {
        let path = args.before.display();
        let message = if earlier.len() == 1 {
            format!("{path} has one snapshot only")
        } else {
            format!("both are the same snapshot, {}", last.display())
        };
        return Err(Failure::new(Kind::Usage, message).hint("name a second one to compare it with"));
    }
    let Limit(limit) = args.limit;
    let heaps = Heaps::compare(&first, &last, args.memory)?.limited(limit);
    put(&args.form, heaps.damage.clone(), &heaps.answer, |canvas| {
        heaps.draw(canvas, args.by);
    })
}

/// Two snapshots, compared.
pub(crate) struct Heaps {
    pub(crate) answer: Difference,
    /// The rows of each table that are left out.
    pub(super) hidden: Hidden,
    /// What is wrong with one of them.
    pub(crate) damage: Option<String>,
}

/// Rows that are left out.
#[derive(Default)]
pub(super) struct Hidden {
    owners: usize,
    roots: usize,
    kinds: usize,
}

impl Heaps {
    /// Compares two snapshots. Each has the names of its own program; one without names has those of the other.
    pub(crate) fn compare(first: &Path, last: &Path, memory: MemoryArgs) -> Result<Self, Failure> {
        let inputs = [Input::open(first, memory)?, Input::open(last, memory)?];
        let (before, after) = (inputs[0].typed_heap()?, inputs[1].typed_heap()?);
        let [from, to] = [(&inputs[0], &before), (&inputs[1], &after)]
            .map(|(input, heap)| Summary::complete(heap).map_err(|error| input.failure(&error)));
        let (mut from, mut to) = (from?, to?);
        let names = [&before, &after].map(|heap| query::stored_names(heap));
        for (side, summary) in [&mut from, &mut to].into_iter().enumerate() {
            let own = if names[side].is_empty() { &names[1 - side] } else { &names[side] };
            summary.name_owners(|kind, name| own.get(&(kind.to_owned(), name.to_owned())).cloned());
        }
        let mut difference = query::diff(&from, &to);
        add_holds(&inputs[1], &after, &mut difference.owners, |row| {
            (row.kind.as_deref(), &row.name, &mut row.holds)
        })?;
        let damage = inputs[0].damage(&before).or_else(|| inputs[1].damage(&after));
        let snapshots = [first, last].map(Compared::look);
        Ok(Self {
            answer: Difference {
                sides: Sides::Snapshots { snapshots },
                rows: difference,
                left_out: 0,
            },
            hidden: Hidden::default(),
            damage,
        })
    }

    /// Leaves so many rows of each table.
    pub(crate) fn limited(mut self, limit: usize) -> Self {
        let Difference { rows: difference, left_out, .. } = &mut self.answer;
        let hide = |rows: &mut Vec<Change>| rows.split_off(rows.len().min(limit)).len();
        let owners = hide(&mut difference.owners);
        let (roots, kinds) = (hide(&mut difference.roots), hide(&mut difference.kinds));
        *left_out = owners + roots + kinds;
        self.hidden = Hidden { owners, roots, kinds };
        self
    }

    /// Adds them as text.
    pub(crate) fn draw(&self, canvas: &mut Canvas, by: By) {
        let Difference { sides, rows: difference, .. } = &self.answer;
        let [from, to] = difference.bytes.map(|size| bytes(size.0 as f64));
        canvas.line(&[(PLAIN, &format!("retained by all roots: {from} before, {to} after"))]);
        if difference.external.iter().any(|size| size.0 > 0) {
            let [from, to] = difference.external.map(|size| bytes(size.0 as f64));
            canvas.line(&[(PLAIN, &format!("off-heap: {from} before, {to} after"))]);
        }
        match sides {
            Sides::Snapshots { snapshots: [from, to] } => {
                canvas.paragraph(FAINT, 2, &format!("before: {from}, after: {to}"));
            }
            Sides::Families(families) => families.draw(canvas),
        }
        let roots = match by {
            By::Owner => ("owner", &difference.owners, self.hidden.owners),
            By::Root => ("root", &difference.roots, self.hidden.roots),
        };
        for (title, changes, hidden) in [roots, ("kind", &difference.kinds, self.hidden.kinds)] {
            if changes.is_empty() {
                continue;
            }
            canvas.gap();
            let mut table = Table::new(&["change", "before", "after", "off-heap"], title);
            for change in changes {
                table.row(figures(change), name(change.kind.as_ref(), &change.name));
                if let Some(earlier) = &change.renamed_from {
                    table.row(vec![String::new(); 4], format!("  was {earlier}"));
                }
                owners::add_holds(&mut table, change.holds.as_deref());
            }
            table.print(canvas);
            if hidden > 0 {
                more(canvas, hidden);
            }
        }
    }
}

/// Adds to variables without a name what they hold; names are those that summaries have.
fn add_holds<T>(
    input: &Input,
    heap: &Heap<'_>,
    rows: &mut [T],
    mut of: impl FnMut(&mut T) -> (Option<&str>, &String, &mut Option<String>),
) -> Result<(), Failure> {
    let global = Some(RootKind::Global.name());
    let mut wanted: HashSet<String> = HashSet::new();
    for row in &mut *rows {
        let (kind, name, _) = of(row);
        if kind == global {
            wanted.insert(name.clone());
        }
    }
    let held = query::held_by_stored(heap, &wanted.iter().map(String::as_str).collect())
        .map_err(|error| input.failure(&error))?;
    for row in rows {
        let (kind, name, holds) = of(row);
        if kind == global {
            *holds = held.get(name).cloned();
        }
    }
    Ok(())
}

/// Puts names of variables in the place of those that summaries have.
pub(super) fn rename<T>(
    names: &query::StoredNames,
    rows: &mut [T],
    mut name: impl FnMut(&mut T) -> Option<(&String, &mut String)>,
) {
    if names.is_empty() {
        return;
    }
    for row in rows {
        if let Some((kind, name)) = name(row)
            && let Some(known) = names.get(&(kind.clone(), name.clone()))
        {
            name.clone_from(known);
        }
    }
}

/// Which snapshot was looked at.
#[derive(Serialize)]
pub(super) struct Compared {
    number: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
}

impl Compared {
    pub(super) fn look(file: &Path) -> Self {
        let facts = snapshot_file::facts(file, number_of(file));
        Self { number: facts.number, label: facts.label }
    }
}

impl Display for Compared {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "snapshot {}", self.number)?;
        self.label.as_ref().map_or(Ok(()), |label| write!(f, " {label:?}"))
    }
}

/// What changed between two snapshots, or those of all processes.
#[derive(Serialize)]
pub(crate) struct Difference {
    #[serde(flatten)]
    pub(super) sides: Sides,
    #[serde(flatten)]
    pub(super) rows: query::Difference,
    /// Rows of all tables that `--limit` left out.
    pub(super) left_out: usize,
}

/// What is compared.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Sides {
    /// Before and after.
    Snapshots { snapshots: [Compared; 2] },
    /// Sums over processes.
    Families(family::Compared),
}

pub(super) fn more(canvas: &mut Canvas, left_out: usize) {
    canvas.line(&[(FAINT, &format!("… and {} more (--limit 0: all)", grouped(left_out as u64)))]);
}

/// The name of a kind of block or, behind the kind of root, of a root.
fn name(kind: Option<&String>, name: &str) -> String {
    kind.map_or_else(|| name.to_owned(), |kind| format!("{kind}: {name}"))
}

fn figures(change: &Change) -> Vec<String> {
    let [before, after] = change.sizes().map(|size| bytes(size.0 as f64));
    vec![self::change(change.sizes()), before, after, outside(change.external[1])]
}

/// By how much something changed.
pub(super) fn change([before, after]: [Bytes; 2]) -> String {
    let sign = if after < before { "-" } else { "+" };
    format!("{sign}{}", bytes(after.0.abs_diff(before.0) as f64))
}

pub(super) fn growth(args: &GrowthArgs) -> Result<ExitCode, Failure> {
    if let [only] = args.paths.as_slice()
        && let Some(members) = args.process.several(only, Need::Snapshots)?
    {
        return family::growth(args, &members);
    }
    let one = |path: &PathBuf| {
        if path.is_dir() { args.process.one(path, Need::Snapshots) } else { Ok(path.clone()) }
    };
    let paths = args.paths.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    let files = chosen(args, &paths)?;
    if files.len() < 2 {
        return Err(too_few(&format!("there is {}", files.len())));
    }
    let Limit(limit) = args.limit;
    let Grown { mut rows, damage } = grown(args, &files)?;
    let left_out = rows.split_off(rows.len().min(limit)).len();
    let ends = [&files[0], &files[files.len() - 1]];
    let snapshots = ends.map(|file| Compared::look(file));
    let answer = GrowthAnswer { snapshots, rows, left_out };
    put(&args.form, damage, &answer, |canvas| {
        let GrowthAnswer { snapshots: [first, last], rows: growth, .. } = &answer;
        canvas.paragraph(FAINT, 2, &format!("first: {first}, last: {last}"));
        if growth.is_empty() {
            let text = format!("nothing grew in {} snapshots", files.len());
            canvas.line(&[(PLAIN, &text)]);
            return;
        }
        let title = format!("grew in {} snapshots", files.len());
        let mut table = Table::new(&GROWN, &title);
        for row in growth {
            table.row(grown_figures(args, row), titled(row));
            owners::add_holds(&mut table, row.holds.as_deref());
        }
        table.print(canvas);
        if left_out > 0 {
            more(canvas, left_out);
        }
    })
}

/// The answer of `growth`.
#[derive(Serialize)]
struct GrowthAnswer {
    /// The first and the last that were looked at.
    snapshots: [Compared; 2],
    rows: Vec<Growth>,
    /// Rows that `--limit` left out.
    left_out: usize,
}

/// The error about too few snapshots.
pub(super) fn too_few(how_many: &str) -> Failure {
    let message = format_args!("growth needs two snapshots at least, and {how_many}");
    Failure::new(Kind::Usage, message)
        .hint("take more: memtrail run --snapshot every-major -- PROGRAM")
}

/// The snapshots that are asked for, of some recordings.
pub(super) fn chosen(args: &GrowthArgs, paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
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

/// What grew.
pub(super) struct Grown {
    pub(super) rows: Vec<Growth>,
    /// What is wrong with one of the snapshots.
    pub(super) damage: Option<String>,
}

/// What grew in some snapshots.
pub(super) fn grown(args: &GrowthArgs, files: &[PathBuf]) -> Result<Grown, Failure> {
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
    let damage = files.iter().zip(&summaries).find_map(|(file, summary)| {
        Some(format!("{} is damaged {}", file.display(), summary.damage.as_ref()?))
    });
    Ok(Grown { rows: growth, damage })
}

/// What a row of a table of growth has before the name.
pub(super) const GROWN: [&str; 5] = ["grew by", "first", "last", "off-heap", ""];

/// Its figures.
pub(super) fn grown_figures(args: &GrowthArgs, row: &Growth) -> Vec<String> {
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

/// Its name.
pub(super) fn titled(row: &Growth) -> String {
    name(row.kind.as_ref(), &row.name)
}

/// Names global variables that grew, or adds what they hold, by the last snapshot: only if there are any it is opened.
fn name_variables(last: &Path, memory: MemoryArgs, growth: &mut [Growth]) -> Result<(), Failure> {
    let is_variable = |row: &Growth| row.kind.as_deref() == Some(RootKind::Global.name());
    if !growth.iter().any(is_variable) {
        return Ok(());
    }
    let input = Input::open(last, memory)?;
    let heap = input.typed_heap()?;
    add_holds(&input, &heap, growth, |row| (row.kind.as_deref(), &row.name, &mut row.holds))?;
    rename(&query::stored_names(&heap), growth, |row| Some((row.kind.as_ref()?, &mut row.name)));
    Ok(())
}

/// What was left of a snapshot when it was first analysed, or is left there now.
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
    // What cannot be read is said as all heap commands do.
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
