//! How much is in the last snapshots of a family: of all processes, of each, and of each generation.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use memtrail_heap::Bytes;
use memtrail_heap::query::{self, Heap, Places};
use memtrail_text::rounded::{bytes, count, grouped};
use serde::Serialize;

use super::NOTE;
use super::process::Process;
use crate::canvas::{Canvas, FAINT};
use crate::error::Failure;
use crate::heap::input::Input;
use crate::heap::table::{Table, outside};
use crate::recording_source::Fitting;

/// Processes in the table, at most.
const MAX_ROWS: usize = 20;

/// What is looked at in a snapshot: all that is reachable, or what was asked for.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Sizes {
    /// Blocks.
    pub(super) blocks: u64,
    /// Their size.
    pub(super) owned: Bytes,
    /// Bytes outside the heap that go with that.
    pub(super) owned_external: Bytes,
}

impl Sizes {
    fn add(&mut self, more: Self) {
        self.blocks += more.blocks;
        self.owned += more.owned;
        self.owned_external += more.owned_external;
    }

    fn figures(self) -> Vec<String> {
        let Self { blocks, owned, owned_external } = self;
        vec![count(blocks as f64), bytes(owned.0 as f64), outside(owned_external)]
    }
}

/// The last snapshot of a process.
#[derive(Serialize)]
struct OfProcess {
    #[serde(flatten)]
    process: Process,
    #[serde(flatten)]
    sizes: Sizes,
    /// Of a fork, what may be counted twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    twice: Option<Twice>,
}

/// All of a fork that is at the same addresses as in the process that it is a copy of, which is in memory once where neither has
/// written to a page since.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Twice {
    blocks: u64,
    bytes: Bytes,
}

/// The processes of a generation.
#[derive(Serialize)]
struct Generation {
    #[serde(rename = "generation")]
    number: u32,
    processes: usize,
    #[serde(flatten)]
    sizes: Sizes,
}

/// Sums over processes.
#[derive(Default, Serialize)]
pub(super) struct Sums {
    #[serde(flatten)]
    pub(super) all: Sizes,
    /// That of most first.
    processes: Vec<OfProcess>,
    generations: Vec<Generation>,
    /// Sum over forks of what may be counted twice, of all that is reachable.
    #[serde(skip_serializing_if = "Option::is_none")]
    twice: Option<Twice>,
    /// All that is reachable, that left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    counted_once: Option<Bytes>,
    #[serde(skip)]
    reachable: Bytes,
    #[serde(skip)]
    copies: Copies,
}

/// Where the blocks of processes are that were forked.
#[derive(Default)]
struct Copies {
    /// Those of which there are copies.
    originals: HashSet<PathBuf>,
    places: HashMap<PathBuf, Places>,
    /// Those that were looked at.
    known: HashSet<PathBuf>,
}

impl Copies {
    /// What a process has that may have been counted before.
    fn look(
        &mut self,
        member: &Fitting,
        input: &Input,
        heap: &Heap<'_>,
    ) -> Result<Option<Twice>, Failure> {
        let is_original = self.originals.contains(&member.path);
        if member.copy_of.is_none() && !is_original {
            return Ok(None);
        }
        let none = Places::default();
        let known = member.copy_of.as_ref().and_then(|original| self.places.get(original));
        let (places, found) =
            Places::of(heap, known.unwrap_or(&none)).map_err(|error| input.failure(&error))?;
        self.known.insert(member.path.clone());
        match &member.copy_of {
            // Of an original without a snapshot, the other copies are what is known.
            Some(original) if !self.known.contains(original) => {
                self.places.entry(original.clone()).or_default().add(places);
            }
            _ if is_original => {
                self.places.insert(member.path.clone(), places);
            }
            _ => {}
        }
        Ok(member.is_fork.then_some(Twice { blocks: found.blocks, bytes: found.bytes }))
    }
}

impl Sums {
    /// No sums yet, of these processes.
    pub(super) fn of(members: &[Fitting]) -> Self {
        let originals = members.iter().filter_map(|member| member.copy_of.clone()).collect();
        Self { copies: Copies { originals, ..Copies::default() }, ..Self::default() }
    }

    /// Adds a process.
    pub(super) fn add(
        &mut self,
        member: &Fitting,
        input: &Input,
        heap: &Heap<'_>,
        sizes: Sizes,
    ) -> Result<(), Failure> {
        let twice = self.copies.look(member, input, heap)?;
        if let Some(Twice { blocks, bytes }) = twice {
            let sum = self.twice.get_or_insert_default();
            sum.blocks += blocks;
            sum.bytes += bytes;
        }
        self.reachable += query::everything(heap).retained;
        self.counted_once =
            self.twice.map(|twice| Bytes(self.reachable.0.saturating_sub(twice.bytes.0)));
        self.all.add(sizes);
        self.processes.push(OfProcess { process: member.into(), sizes, twice });
        let size = |process: &OfProcess| (process.sizes.owned, process.sizes.owned_external);
        self.processes.sort_by_key(|process| Reverse(size(process)));
        let number = member.generation;
        let place = self.generations.binary_search_by_key(&number, |one| one.number);
        let place = place.unwrap_or_else(|place| {
            let sizes = Sizes::default();
            self.generations.insert(place, Generation { number, processes: 0, sizes });
            place
        });
        self.generations[place].processes += 1;
        self.generations[place].sizes.add(sizes);
        Ok(())
    }

    /// How many processes there are.
    pub(super) const fn processes(&self) -> usize {
        self.processes.len()
    }

    /// Draws the processes, and sums by generation.
    pub(super) fn draw(&self, canvas: &mut Canvas) {
        let mut table = Table::new(&["blocks", "size", "off-heap"], "process");
        let name = format!("{} processes with snapshots", grouped(self.processes.len() as u64));
        table.strong(self.all.figures(), name);
        for process in self.processes.iter().take(MAX_ROWS) {
            let OfProcess { process, sizes, .. } = process;
            table.row(sizes.figures(), format!("{}{}", process.name, process.note()));
        }
        if self.generations.len() > 1 {
            for Generation { number, processes, sizes } in &self.generations {
                let plural = if *processes == 1 { "process" } else { "processes" };
                let name = format!("generation {number}: {} {plural}", grouped(*processes as u64));
                table.faint(sizes.figures(), name);
            }
        }
        table.print(canvas);
        let left_out = self.processes.len().saturating_sub(MAX_ROWS);
        if left_out > 0 {
            let text =
                format!("{} more processes that have less (--json: all)", grouped(left_out as u64));
            canvas.line(&[(FAINT, &text)]);
        }
        if let Some((Twice { bytes: size, .. }, once)) = self.twice.zip(self.counted_once) {
            let text = format!(
                "{NOTE}. {} of forks are at the same addresses as in the parent's snapshot; all that is reachable is {} without these",
                bytes(size.0 as f64),
                bytes(once.0 as f64),
            );
            canvas.paragraph(FAINT, 2, &text);
        }
        canvas.line(&[(FAINT, "one of them: --process PID")]);
    }
}
