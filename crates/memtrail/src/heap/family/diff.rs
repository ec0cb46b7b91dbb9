//! `memtrail heap diff` of families: sums over all processes, before and after.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memtrail_engine::question::Member;
use memtrail_heap::Bytes;
use memtrail_heap::query::{self, StoredNames, Summary};
use memtrail_text::rounded::{bytes, grouped};
use serde::Serialize;

use super::{NOTE, Read};
use crate::canvas::{Canvas, FAINT};
use crate::error::{Failure, Kind};
use crate::heap::changes::{self, DiffArgs, Difference, Heaps, Hidden, Sides};
use crate::heap::input::{Input, choose, snapshots};
use crate::heap::table::Table;
use crate::limit::Limit;
use crate::recording_source::{Fitting, Need};
use crate::snapshot_file::MemoryArgs;

/// The processes of both sides.
#[derive(Serialize)]
pub(in crate::heap) struct Compared {
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

/// The snapshot of a process that is looked at.
#[derive(Serialize)]
struct OfProcess {
    #[serde(flatten)]
    process: Member,
    snapshot: changes::Compared,
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

/// A process, and one of its snapshots.
struct Chosen {
    member: Fitting,
    file: PathBuf,
}

/// Compares two families, a family with a recording, or the first snapshots of a family's processes with their last.
pub(in crate::heap) fn diff(
    args: &DiffArgs,
    before: Option<Vec<Fitting>>,
    after: Option<Vec<Fitting>>,
) -> Result<ExitCode, Failure> {
    let Limit(limit) = args.limit;
    let before = before.map_or_else(|| alone(args, &args.before), Ok)?;
    let (heaps, read) = if let Some(path) = &args.after {
        let after = after.map_or_else(|| alone(args, path), Ok)?;
        between([(&before, args.from.as_deref()), (&after, args.to.as_deref())], args.memory)?
    } else {
        within(args, &before)?
    };
    let heaps = heaps.limited(limit);
    read.put(&args.form, &heaps.answer, |canvas| heaps.draw(canvas, args.by))
}

/// The only process with snapshots.
fn alone(args: &DiffArgs, path: &Path) -> Result<Vec<Fitting>, Failure> {
    Ok(vec![Fitting::alone(&args.process.one(path, Need::Snapshots)?)])
}

/// Compares the last snapshots of all these processes, before and after.
pub(crate) fn compare(
    [before, after]: [&[Fitting]; 2],
    memory: MemoryArgs,
) -> Result<(Heaps, Option<ExitCode>), Failure> {
    let (mut heaps, read) = between([(before, None), (after, None)], memory)?;
    heaps.damage = (!read.damage.is_empty()).then(|| read.damage.join("; "));
    Ok((heaps, read.code))
}

/// Compares snapshots of these processes, those that are wanted or the last.
fn between(
    sides: [(&[Fitting], Option<&str>); 2],
    memory: MemoryArgs,
) -> Result<(Heaps, Read), Failure> {
    let mut sums = Sums::new(memory);
    let mut read = Read::default();
    for (side, (members, wanted)) in sides.into_iter().enumerate() {
        let more = Read::each(members, |member, read| {
            let file = choose(&member.path, wanted)?;
            let damage = sums.add(side, &Chosen { member: member.clone(), file })?;
            read.damage.extend(damage);
            Ok(())
        })?;
        read.damage.extend(more.damage);
        read.code = more.code.or(read.code);
    }
    Ok((sums.compare(Vec::new()), read))
}

/// Compares an earlier and a later snapshot of each process.
fn within(args: &DiffArgs, members: &[Fitting]) -> Result<(Heaps, Read), Failure> {
    let mut sums = Sums::new(args.memory);
    let mut too_few = Vec::new();
    let read = Read::each(members, |member, read| {
        let files = snapshots(&member.path)?;
        let first = match (&args.from, files.first()) {
            (None, Some(first)) => first.clone(),
            (from, _) => choose(&member.path, from.as_deref())?,
        };
        let last = choose(&member.path, args.to.as_deref())?;
        if first == last {
            too_few.push(member.path.display().to_string());
            return Ok(());
        }
        for (side, file) in [first, last].into_iter().enumerate() {
            let damage = sums.add(side, &Chosen { member: member.clone(), file })?;
            read.damage.extend(damage);
        }
        Ok(())
    })?;
    if sums.sides.iter().any(Vec::is_empty) {
        let path = args.before.display();
        let message = format_args!("no process in {path} has two snapshots to compare");
        return Err(Failure::new(Kind::Usage, message)
            .hint("name a second recording to compare all processes with"));
    }
    Ok((sums.compare(too_few), read))
}

/// What is known of the snapshots of both sides.
#[derive(Default)]
struct Sums {
    sides: [Vec<(OfProcess, Summary)>; 2],
    /// Names of variables before and after, by program.
    names: [HashMap<String, StoredNames>; 2],
    has_forks: bool,
    memory: MemoryArgs,
}

impl Sums {
    fn new(memory: MemoryArgs) -> Self {
        Self { memory, ..Self::default() }
    }

    /// Adds a snapshot; gives what is wrong with it.
    fn add(&mut self, side: usize, chosen: &Chosen) -> Result<Option<String>, Failure> {
        let Chosen { member, file } = chosen;
        let input = Input::open(file, self.memory)?;
        let heap = input.typed_heap()?;
        let summary = Summary::complete(&heap).map_err(|error| input.failure(&error))?;
        let process = OfProcess {
            process: member.member(),
            snapshot: changes::Compared::look(file),
            blocks: summary.blocks,
            bytes: summary.bytes,
            external: summary.external,
        };
        let names = self.names[side].entry(process.process.program_name().to_owned()).or_default();
        names.extend(query::stored_names(&heap));
        self.has_forks |= member.is_fork;
        self.sides[side].push((process, summary));
        Ok(input.damage(&heap))
    }

    fn compare(self, too_few: Vec<String>) -> Heaps {
        let Self { sides, names, has_forks, .. } = self;
        let mut programs: BTreeMap<String, Program> = BTreeMap::new();
        let mut processes = [Vec::new(), Vec::new()];
        let mut summaries = [Vec::new(), Vec::new()];
        for (side, all) in sides.into_iter().enumerate() {
            for (process, mut summary) in all {
                let name = process.process.program_name().to_owned();
                // Fields of the same number are other variables in another program, and in another build of it.
                let mut known = [&names[side], &names[1 - side]].map(|names| names.get(&name));
                let names = known.iter_mut().find_map(|names| names.filter(|n| !n.is_empty()));
                summary.name_owners(|kind, name| {
                    names?.get(&(kind.to_owned(), name.to_owned())).cloned()
                });
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
                processes[side].push(process);
                summaries[side].push(summary);
            }
            processes[side].sort_by_key(|process| Reverse(process.bytes + process.external));
        }
        let [before, after] = summaries.map(Summary::sum);
        let difference = query::diff(&before, &after);
        let mut programs: Vec<Program> = programs.into_values().collect();
        programs.sort_by_key(|program| Reverse(program.sizes().into_iter().max()));
        let sides = Sides::Families(Compared { processes, programs, too_few, has_forks });
        let answer = Difference { sides, rows: difference, left_out: 0 };
        Heaps { answer, hidden: Hidden::default(), damage: None }
    }
}

impl Compared {
    /// Draws how many processes there are, by program.
    pub(in crate::heap) fn draw(&self, canvas: &mut Canvas) {
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
            table.row(
                vec![changes::change(program.sizes()), before, after, processes],
                name.as_str(),
            );
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
