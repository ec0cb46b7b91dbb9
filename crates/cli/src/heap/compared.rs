//! Compares snapshots: of one process, or of all processes of families by their sums.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use memtrail_engine::question::Member;
use memtrail_heap::query::{self, Change, HeldByStored, StoredNames, Summary};
use memtrail_heap::{Bytes, RootKind};
use memtrail_order::SortRows as _;
use memtrail_text::rounded::{bytes, grouped};
use serde::Serialize;

use super::input::Input;
use super::named::{By, with_kind};
use super::owners;
use super::processes::NOTE;
use super::snapshot_name::SnapshotName;
use super::table::{Table, outside};
use crate::canvas::{Canvas, FAINT, PLAIN};
use crate::error::Failure;
use crate::limit::draw_left_out;
use crate::snapshot_file::MemoryArgs;

/// Snapshots, compared.
pub(crate) struct Heaps {
    pub(crate) answer: Difference,
    /// The rows of each table that are left out.
    hidden: Hidden,
    /// The damage of some of them.
    pub(crate) damage: Option<String>,
}

/// Rows that are left out.
#[derive(Default)]
struct Hidden {
    owners: usize,
    roots: usize,
    kinds: usize,
}

/// Changes between two snapshots, or those of all processes.
#[derive(Serialize)]
pub(crate) struct Difference {
    #[serde(flatten)]
    sides: Sides,
    #[serde(flatten)]
    rows: query::Difference,
    /// Rows of all tables that `--limit` left out.
    left_out: usize,
}

/// The sides of a comparison.
#[derive(Serialize)]
#[serde(untagged)]
enum Sides {
    /// Before and after.
    Snapshots { snapshots: [SnapshotName; 2] },
    /// Sums over processes.
    Families(Families),
}

/// The processes of both sides.
#[derive(Serialize)]
struct Families {
    /// Before and after, those of most first.
    processes: [Vec<OfProcess>; 2],
    /// Sums by program, those of most first.
    programs: Vec<Program>,
    /// Recordings of processes of a single family that have one snapshot only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    too_few: Vec<String>,
    #[serde(skip)]
    has_forks: bool,
}

/// A snapshot of a process.
#[derive(Serialize)]
struct OfProcess {
    #[serde(flatten)]
    process: Member,
    snapshot: SnapshotName,
    blocks: u64,
    bytes: Bytes,
    external: Bytes,
}

/// The processes of a program, before and after.
#[derive(Serialize)]
struct Program {
    name: String,
    processes: [usize; 2],
    bytes: [Bytes; 2],
    external: [Bytes; 2],
}

impl Program {
    /// Bytes before and after, off-heap memory included.
    fn sizes(&self) -> [Bytes; 2] {
        [0, 1].map(|side| self.bytes[side] + self.external[side])
    }
}

/// The snapshots of both sides.
#[derive(Default)]
pub(super) struct Sums {
    sides: [Vec<(OfProcess, Summary)>; 2],
    /// Names of variables before and after, by program.
    names: [HashMap<String, StoredNames>; 2],
    /// Values of variables without a name, after.
    held: HeldByStored,
    damage: Vec<String>,
    memory: MemoryArgs,
}

impl Sums {
    pub(super) fn new(memory: MemoryArgs) -> Self {
        Self { memory, ..Self::default() }
    }

    /// True if a side has no snapshot.
    pub(super) fn lacks_a_side(&self) -> bool {
        self.sides.iter().any(Vec::is_empty)
    }

    /// Adds a snapshot of a process.
    pub(super) fn add(&mut self, side: usize, member: Member, file: &Path) -> Result<(), Failure> {
        let input = Input::open(file, self.memory)?;
        let heap = input.typed_heap()?;
        let summary = Summary::complete(&heap).map_err(|error| input.failure(&error))?;
        let names = self.names[side].entry(member.program_name().to_owned()).or_default();
        names.extend(query::stored_names(&heap));
        if side == 1 {
            let global = RootKind::Global.name();
            let globals = summary.owners.iter().filter(|owner| owner.kind == global);
            let wanted: BTreeSet<&str> = globals.map(|owner| owner.name.as_str()).collect();
            let held = query::held_by_stored(&heap, &wanted);
            self.held.extend(held.map_err(|error| input.failure(&error))?);
        }
        let process = OfProcess {
            process: member,
            snapshot: SnapshotName::of(file),
            blocks: summary.blocks,
            bytes: summary.bytes,
            external: summary.external,
        };
        self.sides[side].push((process, summary));
        self.damage.extend(input.damage(&heap));
        Ok(())
    }

    /// Compares two snapshots.
    pub(super) fn compare_snapshots(self, files: [&Path; 2]) -> Heaps {
        let snapshots = files.map(SnapshotName::of);
        self.compare(|_| Sides::Snapshots { snapshots })
    }

    /// Compares the processes of families.
    pub(super) fn compare_families(self, too_few: Vec<String>) -> Heaps {
        self.compare(|mut processes| {
            let mut programs: BTreeMap<String, Program> = BTreeMap::new();
            for (side, all) in processes.iter_mut().enumerate() {
                for process in &*all {
                    let name = process.process.program_name().to_owned();
                    let empty = || Program {
                        name: name.clone(),
                        processes: [0; 2],
                        bytes: [Bytes(0); 2],
                        external: [Bytes(0); 2],
                    };
                    let program = programs.entry(name.clone()).or_insert_with(empty);
                    program.processes[side] += 1;
                    program.bytes[side] += process.bytes;
                    program.external[side] += process.external;
                }
                all.sort_rows_by_key(|process| Reverse(process.bytes + process.external));
            }
            let mut programs: Vec<Program> = programs.into_values().collect();
            programs.sort_rows_by_key(|program| Reverse(program.sizes().into_iter().max()));
            let has_forks = processes.iter().flatten().any(|of| of.process.is_fork);
            Sides::Families(Families { processes, programs, too_few, has_forks })
        })
    }

    fn compare(self, sides_of: impl FnOnce([Vec<OfProcess>; 2]) -> Sides) -> Heaps {
        let Self { sides, names, held, damage, .. } = self;
        let mut processes = [Vec::new(), Vec::new()];
        let mut summaries = [Vec::new(), Vec::new()];
        for (side, all) in sides.into_iter().enumerate() {
            for (process, mut summary) in all {
                let name = process.process.program_name();
                // Fields of the same number are other variables in another program, and in another build of it.
                let mut known = [&names[side], &names[1 - side]].map(|names| names.get(name));
                let names = known.iter_mut().find_map(|names| names.filter(|n| !n.is_empty()));
                summary.name_owners(|kind, name| {
                    names?.get(&(kind.to_owned(), name.to_owned())).cloned()
                });
                processes[side].push(process);
                summaries[side].push(summary);
            }
        }
        let [before, after] = summaries.map(Summary::sum);
        let mut rows = query::diff(&before, &after);
        for row in &mut rows.owners {
            if row.kind.as_deref() == Some(RootKind::Global.name()) {
                row.holds = held.get(&row.name).cloned();
            }
        }
        let answer = Difference { sides: sides_of(processes), rows, left_out: 0 };
        let damage = (!damage.is_empty()).then(|| damage.join("; "));
        Heaps { answer, hidden: Hidden::default(), damage }
    }
}

impl Heaps {
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
                table.row(figures(change), with_kind(change.kind.as_ref(), &change.name));
                if let Some(earlier) = &change.renamed_from {
                    table.row(vec![String::new(); 4], format!("  was {earlier}"));
                }
                owners::add_holds(&mut table, change.holds.as_deref());
            }
            table.print(canvas);
            draw_left_out(canvas, hidden, "");
        }
    }
}

impl Families {
    /// Draws how many processes there are, by program.
    fn draw(&self, canvas: &mut Canvas) {
        canvas.gap();
        let headings = ["change", "before", "after", "processes"];
        let mut table = Table::new(&headings, "program");
        for program in &self.programs {
            let Program { name, processes: [from, to], .. } = program;
            let number = |of: &usize| grouped(*of as u64);
            let processes = if from == to {
                number(from)
            } else {
                format!("{} → {}", number(from), number(to))
            };
            let [before, after] = program.sizes().map(|size| bytes(size.0 as f64));
            table.row(vec![change(program.sizes()), before, after, processes], name.as_str());
        }
        table.print(canvas);
        if !self.too_few.is_empty() {
            let number = grouped(self.too_few.len() as u64);
            canvas.line(&[(FAINT, &format!("not compared: {number} with one snapshot only"))]);
        }
        if self.has_forks {
            canvas.paragraph(FAINT, 2, NOTE);
        }
    }
}

fn figures(change: &Change) -> Vec<String> {
    let [before, after] = change.sizes().map(|size| bytes(size.0 as f64));
    vec![self::change(change.sizes()), before, after, outside(change.external[1])]
}

/// Text of a change in size.
fn change([before, after]: [Bytes; 2]) -> String {
    let sign = if after < before { "-" } else { "+" };
    format!("{sign}{}", bytes(after.0.abs_diff(before.0) as f64))
}
