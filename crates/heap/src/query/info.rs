//! What a snapshot is of, and how much is in it.

use serde::Serialize;

use super::heap::Heap;
use crate::facts::SnapshotReason;
use crate::graph::passes::sweep;
use crate::read::{Detail, Error, Strength};
use crate::space::Space;
use crate::units::{Bytes, Words};

/// A snapshot in figures.
#[derive(Clone, Debug, Serialize)]
pub struct Info {
    /// The program's name.
    pub program: String,
    /// The OCaml runtime's version.
    pub runtime: String,
    /// The process.
    pub pid: u64,
    /// The snapshot's number within its recording.
    pub number: u64,
    /// Why it was taken.
    pub reason: &'static str,
    /// The name that the program gave it; mostly empty.
    pub label: String,
    /// When it was taken: nanoseconds since 1970.
    pub taken_at: u64,
    /// How long the program was paused: nanoseconds. Unknown where its field is damaged.
    pub pause: Option<u64>,
    /// Counters of the collector.
    pub counters: Vec<(String, u64)>,
    /// The parts of memory.
    pub spaces: Vec<SpaceRow>,
    /// Reachable blocks, static ones counted.
    pub reachable_blocks: u64,
    /// Their size.
    pub reachable_bytes: Bytes,
    /// Blocks that are unreachable and not freed yet. Unknown of a damaged snapshot:
    /// what keeps them may be in the part that is missing.
    pub unreachable_blocks: Option<u64>,
    /// Their size.
    pub unreachable_bytes: Option<Bytes>,
    /// Bytes outside the heap that go with custom blocks, as far as they are known.
    pub external: Bytes,
    /// Those of them that are mapped files.
    pub external_mapped: Bytes,
    /// Blocks that have memory outside the heap of which it is unknown how much it is: bigarrays whose
    /// data C code frees.
    pub external_unknown: u64,
    /// Pointers between blocks.
    pub edges: u64,
    /// Roots that hold a block.
    pub roots: u64,
    /// Ephemerons and weak arrays.
    pub ephemerons: u64,
    /// Values with a finaliser.
    pub finalisers: u64,
    /// Blocks that the allocation trace knows.
    pub samples: u64,
    /// Words that look like pointers and point to no block.
    pub outside: u64,
    /// What is wrong with the file.
    pub damage: Option<String>,
}

/// A part of memory.
#[derive(Clone, Debug, Serialize)]
pub struct SpaceRow {
    /// Its name.
    pub space: &'static str,
    /// Blocks in it.
    pub blocks: u64,
    /// Their size, headers counted.
    pub bytes: Bytes,
    /// Free space and padding between them.
    pub between: Bytes,
}

/// What mapped files are called: bigarrays of their own, and shared ones.
const MAPPED: [&[u8]; 2] = [b"_bigarray", b"mapped file"];

/// Counts.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn info(heap: &Heap<'_>) -> Result<Info, Error> {
    let snapshot = &heap.snapshot;
    let is_mapped = |identifier: u32| {
        let name = snapshot.customs.get(identifier as usize).map(Vec::as_slice);
        name.is_some_and(|name| MAPPED.contains(&name))
    };
    let gathered =
        sweep(snapshot, heap.threads, Detail::Edges, Sum::default, |sum, _, columns| {
            let mut start = 0;
            for (space, end) in columns.spaces() {
                let row = &mut sum.spaces[space as usize];
                for block in (start..end).filter_map(|place| columns.get(place)) {
                    row.0 += 1;
                    row.1 += block.size().0;
                    let which = usize::from(heap.graph.is_reachable(block.index));
                    sum.by_life[which].0 += 1;
                    sum.by_life[which].1 += block.size().0;
                }
                start = end;
            }
            for (space, words) in columns.between() {
                sum.spaces[space as usize].2 += words.0;
            }
            for (_, identifier, external) in columns.customs() {
                sum.external += Bytes(external);
                if external > 0 && is_mapped(identifier) {
                    sum.mapped += Bytes(external);
                }
            }
            sum.unknown += columns.unknown().count() as u64;
            sum.edges += columns.edges().len() as u64;
        })?;
    let mut sum = Sum::default();
    for more in gathered {
        for (into, from) in sum.spaces.iter_mut().zip(more.spaces) {
            *into = (into.0 + from.0, into.1 + from.1, into.2 + from.2);
        }
        for (into, from) in sum.by_life.iter_mut().zip(more.by_life) {
            *into = (into.0 + from.0, into.1 + from.1);
        }
        sum.external += more.external;
        sum.mapped += more.mapped;
        sum.unknown += more.unknown;
        sum.edges += more.edges;
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let facts = &snapshot.facts;
    let is_whole = snapshot.damage.is_none();
    Ok(Info {
        program: text(&facts.program),
        runtime: text(&facts.runtime),
        pid: facts.pid,
        number: facts.number,
        reason: SnapshotReason::name(facts.reason),
        label: text(&facts.label),
        taken_at: facts.taken_at,
        pause: Some(facts.pause).filter(|pause| *pause > 0),
        counters: facts.counters.iter().map(|(name, value)| (text(name), *value)).collect(),
        spaces: Space::ALL
            .iter()
            .zip(sum.spaces)
            .filter(|(_, (blocks, ..))| *blocks > 0)
            .map(|(space, (blocks, words, between))| SpaceRow {
                space: space.name(),
                blocks,
                bytes: Words(words).bytes(),
                between: Words(between).bytes(),
            })
            .collect(),
        reachable_blocks: sum.by_life[1].0,
        reachable_bytes: Words(sum.by_life[1].1).bytes(),
        unreachable_blocks: is_whole.then_some(sum.by_life[0].0),
        unreachable_bytes: is_whole.then_some(Words(sum.by_life[0].1).bytes()),
        external: sum.external,
        external_mapped: sum.mapped,
        external_unknown: sum.unknown,
        edges: sum.edges,
        roots: snapshot.roots.len() as u64,
        ephemerons: snapshot.ephemerons.len() as u64,
        finalisers: snapshot
            .roots
            .iter()
            .filter(|root| matches!(root.strength, Strength::Finaliser | Strength::Last))
            .count() as u64,
        samples: snapshot.samples.len() as u64,
        outside: snapshot.totals.outside,
        damage: snapshot.damage.map(|damage| damage.to_string()),
    })
}

#[derive(Default)]
struct Sum {
    /// Blocks, words, words between; by space.
    spaces: [(u64, u64, u64); Space::ALL.len()],
    /// Blocks and words, first of the unreachable.
    by_life: [(u64, u64); 2],
    external: Bytes,
    mapped: Bytes,
    unknown: u64,
    edges: u64,
}
