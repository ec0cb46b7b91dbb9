//! Sums over the last snapshots of a family: all processes, each process, each generation.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use memtrail_heap::Bytes;
use memtrail_heap::query::{self, Heap, Places};
use memtrail_heap::read::Error;
use serde::Serialize;

/// A process of a family.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Member {
    /// The folder of its recording.
    pub recording: String,
    /// Its number in the system.
    pub pid: Option<u32>,
    /// The program's path.
    pub program: Option<String>,
    /// Recorded processes above it.
    pub generation: u32,
    /// Its name among the others: `ocamlopt.opt-4711`.
    #[serde(skip)]
    pub name: String,
    /// True if it is a copy of its parent.
    #[serde(skip)]
    pub is_fork: bool,
    /// The recording of which a fork is a copy.
    #[serde(skip)]
    pub copy_of: Option<PathBuf>,
}

impl Member {
    /// The file name of its program.
    pub fn program_name(&self) -> &str {
        let program = self.program.as_deref().unwrap_or("(unknown)");
        program.rsplit('/').next().unwrap_or(program)
    }

    /// The note behind its name.
    pub const fn note(&self) -> &'static str {
        if self.is_fork { " (fork)" } else { "" }
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(&self.recording)
    }
}

/// Sizes of the blocks that a question looks at: all reachable blocks, or some.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Sizes {
    /// Blocks.
    pub blocks: u64,
    /// Their size.
    pub owned: Bytes,
    /// Bytes outside the heap that go with that.
    pub owned_external: Bytes,
}

impl Sizes {
    fn add(&mut self, more: Self) {
        self.blocks += more.blocks;
        self.owned += more.owned;
        self.owned_external += more.owned_external;
    }
}

/// A process in an answer about a family.
#[derive(Debug, Serialize)]
pub struct OfProcess<A> {
    /// The process.
    #[serde(flatten)]
    pub process: Member,
    /// Sizes of the blocks in its snapshot.
    #[serde(flatten)]
    pub sizes: Option<Sizes>,
    /// Memory of a fork that may be counted twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub twice: Option<Twice>,
    /// The answer about it alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<A>,
    /// The size by which answers are in order.
    #[serde(skip)]
    pub size: Bytes,
}

/// The processes of a family in an answer.
#[derive(Debug, Serialize)]
pub struct Family<A> {
    /// Processes, the largest first.
    pub processes: Vec<OfProcess<A>>,
    /// Sums over the processes.
    #[serde(flatten)]
    pub sums: FamilySums,
    /// Recordings of processes in which what was asked for does not occur.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
}

/// Memory of a fork at the same addresses as in its original. It is in memory once, unless one of them has written to
/// the page since.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Twice {
    /// Blocks.
    pub blocks: u64,
    /// Their size.
    pub bytes: Bytes,
}

/// The processes of a generation.
#[derive(Debug, Serialize)]
pub struct Generation {
    /// Recorded processes above each.
    #[serde(rename = "generation")]
    pub number: u32,
    /// The number of processes.
    pub processes: usize,
    /// Sums over them.
    #[serde(flatten)]
    pub sizes: Sizes,
}

impl<A> Family<A> {
    /// True if any process is a copy of its parent.
    pub fn has_forks(&self) -> bool {
        self.processes.iter().any(|one| one.process.is_fork)
    }

    /// The name of the process with a recording.
    pub fn name_of(&self, recording: &str) -> Option<&str> {
        let known = self.processes.iter().find(|one| one.process.recording == recording)?;
        Some(&known.process.name)
    }
}

/// Sums over processes, if their sizes are known.
#[derive(Debug, Default, Serialize)]
pub struct FamilySums {
    /// All processes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all: Option<Sizes>,
    /// Sums by generation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub generations: Vec<Generation>,
    /// Sum over forks of what may be counted twice, of all that is reachable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub twice: Option<Twice>,
    /// All that is reachable, that left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_once: Option<Bytes>,
    #[serde(skip)]
    reachable: Bytes,
    #[serde(skip)]
    copies: Copies,
}

/// Addresses of blocks, by which copies are found.
#[derive(Debug, Default)]
struct Copies {
    /// Recordings of processes with copies.
    originals: HashSet<PathBuf>,
    places: HashMap<PathBuf, Places>,
    /// Recordings that are known by now.
    known: HashSet<PathBuf>,
}

impl Copies {
    /// Finds memory of a process that may have been counted before.
    fn look(&mut self, member: &Member, heap: &Heap<'_>) -> Result<Option<Twice>, Error> {
        let is_original = self.originals.contains(&member.path());
        if member.copy_of.is_none() && !is_original {
            return Ok(None);
        }
        let none = Places::default();
        let known = member.copy_of.as_ref().and_then(|original| self.places.get(original));
        let (places, found) = Places::of(heap, known.unwrap_or(&none))?;
        self.known.insert(member.path());
        match &member.copy_of {
            // The original has no snapshot: compare with its other copies.
            Some(original) if !self.known.contains(original) => {
                self.places.entry(original.clone()).or_default().add(places);
            }
            _ if is_original => {
                self.places.insert(member.path(), places);
            }
            _ => {}
        }
        Ok(member.is_fork.then_some(Twice { blocks: found.blocks, bytes: found.bytes }))
    }
}

impl FamilySums {
    /// No sums yet, of these processes.
    pub(super) fn of(members: &[Member]) -> Self {
        let originals = members.iter().filter_map(|member| member.copy_of.clone()).collect();
        Self { copies: Copies { originals, ..Copies::default() }, ..Self::default() }
    }

    /// Adds a process; returns its memory that may be counted twice.
    ///
    /// # Errors
    /// If a section of its snapshot is damaged.
    pub(super) fn add(
        &mut self,
        member: &Member,
        heap: &Heap<'_>,
        sizes: Sizes,
    ) -> Result<Option<Twice>, Error> {
        let twice = self.copies.look(member, heap)?;
        if let Some(Twice { blocks, bytes }) = twice {
            let sum = self.twice.get_or_insert_default();
            sum.blocks += blocks;
            sum.bytes += bytes;
        }
        self.reachable += query::everything(heap).retained;
        self.counted_once =
            self.twice.map(|twice| Bytes(self.reachable.0.saturating_sub(twice.bytes.0)));
        self.all.get_or_insert_default().add(sizes);
        let number = member.generation;
        let place = self.generations.binary_search_by_key(&number, |one| one.number);
        let place = place.unwrap_or_else(|place| {
            let sizes = Sizes::default();
            self.generations.insert(place, Generation { number, processes: 0, sizes });
            place
        });
        self.generations[place].processes += 1;
        self.generations[place].sizes.add(sizes);
        Ok(twice)
    }
}
