//! Evidence for the verdict, from snapshots and samples.

use std::collections::HashMap;

use memtrail_heap::Bytes;
use memtrail_heap::query::Summary;
use memtrail_order::SortRows as _;
use memtrail_trace::{Site, Source, StackId};

use super::clock::Clock;
use super::owned::{self, Lifetime, Owner};
use super::thread_number::ThreadNumber;
use super::threads;
use super::verdict::{
    Evidence, LEAST, Life, MAX_DATES, MAX_RANKS, OwnerEvidence, REPLACED, SAMPLED, subsampled,
};
use super::weak_tables::WeakTable;
use crate::heap::file::SnapshotFacts;
use crate::heap::loaded::LoadedSnapshot;
use crate::heap::samples::sites;
use crate::heap::snapshot_store::Known;
use crate::process::ResidentMemory;
use crate::recording::Recording;

/// Seconds within which a program starts. An interpreter takes 10 to 30 ms.
const START: f64 = 0.1;
/// Parts of the work after which call sites are compared, and one.
const PARTS: usize = 20;
/// Minor collections a snapshot without which they tell no work.
const MIN_MINOR: u64 = 4;
/// Calls that identify a call site: the allocation, and its caller.
const CALLS: usize = 2;
/// Part of a buffer's size from which on its earlier blocks are looked at: one in so many. Six doublings tell its growth.
const CHAIN: u64 = 64;

/// Sizes of owners in the snapshots before the one that is looked at.
pub(super) struct History {
    /// When that was taken, in seconds since the start.
    pub(super) end: f64,
    /// When each of the others was taken, and what was alive.
    times: Vec<(f64, u64)>,
    /// The work until each of all by the runtime's counters.
    counted: Counted,
    sizes: HashMap<(String, String), Vec<u64>>,
}

impl History {
    pub(super) fn new(loaded: &LoadedSnapshot, recording: &Recording, known: &[Known]) -> Self {
        let profile = recording.profile();
        let start = profile.info.start.0 as f64 / 1e6;
        let at = |known: &Known| (known.facts.taken_unix - start).max(0.0);
        let number = loaded.heap().snapshot.facts.number;
        let this = known.iter().find(|known| known.facts.number == number);
        let end =
            this.filter(|known| known.facts.taken_unix > 0.0).map_or(profile.end.seconds(), at);
        let before = known.iter().filter(|known| known.facts.number < number);
        let ready: Vec<(&Known, &Summary)> = before
            .filter_map(|known| Some((known, known.summary.as_deref()?)))
            .filter(|(_, summary)| summary.damage.is_none())
            .collect();
        let all = ready.iter().map(|(known, _)| Some(*known)).chain([this]);
        let all: Vec<_> = all.map(|known| known.map(|known| &known.facts)).collect();
        let counter =
            |of: fn(&SnapshotFacts) -> Option<u64>| all.iter().map(|facts| of((*facts)?)).collect();
        let counted = Counted {
            words: counter(|facts| facts.allocated_words),
            minor: counter(|facts| facts.minor),
        };
        let names = loaded.stored_names();
        let mut sizes: HashMap<(String, String), Vec<u64>> = HashMap::new();
        let mut times = Vec::new();
        for (place, (known, summary)) in ready.iter().enumerate() {
            let mut alive = 0_u64;
            for owner in &summary.owners {
                let key = (owner.kind.clone(), owner.name.clone());
                let name = match owner.kind.as_str() {
                    "stack" => {
                        let frame = owner.name.rsplit(" / ").next().unwrap_or_default();
                        owned::function_of_frame(frame)
                    }
                    _ => names.get(&key).map_or(owner.name.as_str(), String::as_str),
                };
                let key = (key.0, name.to_owned());
                let sizes = sizes.entry(key).or_insert_with(|| vec![0; ready.len()]);
                let Bytes(owned) = owner.owned + owner.owned_external;
                sizes[place] = sizes[place].saturating_add(owned);
                alive = alive.saturating_add(owned);
            }
            times.push((at(known), alive));
        }
        Self { end, times, counted, sizes }
    }

    /// Snapshots, the one that is looked at included.
    pub(super) fn snapshots(&self) -> usize {
        self.times.len() + 1
    }
}

/// Counters of the runtime at each snapshot, where all of them have them.
#[derive(Default)]
struct Counted {
    /// Words that the program had allocated.
    words: Option<Vec<u64>>,
    /// Minor collections.
    minor: Option<Vec<u64>>,
}

impl Counted {
    /// The work until each of so many snapshots where samples do not tell it, as a part of all.
    ///
    /// Words that domains allocated are lost when these end. Then minor collections tell the work, each of which comes
    /// when a minor heap was allocated. Where these are unknown or too few, each snapshot is a step.
    fn work(&self, snapshots: usize) -> Vec<f64> {
        let part = |counts: &Option<Vec<u64>>, least: u64| {
            let counts = counts.as_ref().filter(|counts| counts.is_sorted())?;
            let last = *counts.last().filter(|last| **last >= least)?;
            Some(counts.iter().map(|count| *count as f64 / last as f64).collect())
        };
        let step = |step| step as f64 / snapshots as f64;
        part(&self.words, 1)
            .or_else(|| part(&self.minor, MIN_MINOR * snapshots as u64))
            .unwrap_or_else(|| (1..=snapshots).map(step).collect())
    }
}

/// Evidence, and the place of each of its owners among those of the snapshot.
pub(super) struct Gathered {
    pub(super) evidence: Evidence,
    pub(super) owners: Vec<Option<usize>>,
}

/// Gathers what is known of owners, some of which are weak tables.
pub(super) fn gather(
    (owners, weak): (&[Owner<'_>], &[WeakTable]),
    history: &History,
    clock: &Clock,
    recording: &Recording,
    alive: Bytes,
) -> Gathered {
    let count = history.snapshots();
    let times = history.times.iter().map(|(at, _)| *at).chain([history.end]);
    let mut evidence = common(clock, recording, history.end);
    evidence.work = if clock.stands() {
        history.counted.work(count)
    } else {
        times.map(|at| clock.at(at).min(1.0)).collect()
    };
    evidence.alive = history.times.iter().map(|(_, alive)| *alive).chain([alive.0]).collect();
    let last_thread = threads::last(owners);
    let mut sizes = history.sizes.clone();
    let mut places = Vec::new();
    for (place, owner) in owners.iter().enumerate() {
        let key = (owner.kind.to_owned(), owner.group.clone());
        let mut sizes = sizes.remove(&key).unwrap_or_else(|| vec![0; count - 1]);
        sizes.push(owner.bytes());
        if sizes.iter().any(|size| *size as f64 >= LEAST) {
            let (kind, name) = key;
            let WeakTable { follows_keys, is_emptied } =
                weak.get(place).copied().unwrap_or_default();
            let known = OwnerEvidence {
                kind,
                name,
                sizes,
                follows_keys,
                emptied_by_collector: is_emptied,
                ..OwnerEvidence::default()
            };
            evidence.owners.push(of_owner(
                known,
                owner,
                clock,
                recording,
                history.end,
                last_thread,
            ));
            places.push(Some(place));
        }
    }
    let mut gone: Vec<_> = sizes
        .into_iter()
        .filter(|(_, sizes)| sizes.iter().any(|size| *size as f64 >= LEAST))
        .collect();
    gone.sort();
    for ((kind, name), mut sizes) in gone {
        sizes.push(0);
        evidence.owners.push(OwnerEvidence { kind, name, sizes, ..OwnerEvidence::default() });
        places.push(None);
    }
    Gathered { evidence, owners: places }
}

/// Evidence on the whole recording, without owners and snapshots.
pub(super) fn common(clock: &Clock, recording: &Recording, end: f64) -> Evidence {
    let (before, after) = clock.sampled();
    let stands = clock.stands();
    Evidence {
        end: if stands { 1.0 } else { clock.end() },
        sampled: if stands { Vec::new() } else { clock.ranks(MAX_RANKS) },
        before,
        after,
        same_sites: same_sites(clock, recording, end),
        is_stopped: recording.description.is_stopped,
        is_attached: recording.description.is_attached,
        resident_grown: resident_grown(recording),
        is_start: clock.waits_since(end).is_some_and(|since| since < START),
        worked_on: worked_on(clock, recording, end),
        bytes_per_sample: (!recording.description.no_trace)
            .then(|| recording.profile().estimator.bytes_per_sample()),
        ..Evidence::default()
    }
}

/// Bytes by which resident memory grew since memtrail was attached.
fn resident_grown(recording: &Recording) -> Option<f64> {
    let measured = recording.description.process.memory.as_ref();
    let rss = &measured.filter(|_| recording.description.is_attached)?.rss;
    match rss.as_slice() {
        [first, .., last] => Some(*last as f64 - *first as f64),
        _ => None,
    }
}

/// CPU time since the program allocated nearly all, as a multiple of that before, if it allocated nothing for most of the time.
fn worked_on(clock: &Clock, recording: &Recording, end: f64) -> Option<f64> {
    if recording.description.incomplete.is_some() {
        return None;
    }
    let memory = recording.description.process.memory.as_ref()?;
    let mut measured = ResidentMemory {
        seconds: memory.seconds.clone(),
        cpu_seconds: memory.cpu_seconds.clone(),
        ..ResidentMemory::default()
    };
    // A program that waits does not measure itself.
    if let Some(present) = recording.description.present {
        measured.seconds.push(present.seconds);
        measured.cpu_seconds.extend(present.cpu_seconds);
    }
    if measured.seconds.len() != measured.cpu_seconds.len() {
        return None;
    }
    let (until, whole) = measured.cpu_until(clock.waits_since(end)?)?;
    (until > 0.0).then(|| (whole - until).max(0.0) / until)
}

/// Adds what samples tell of an owner.
fn of_owner(
    known: OwnerEvidence,
    owner: &Owner<'_>,
    clock: &Clock,
    recording: &Recording,
    end: f64,
    last_thread: Option<ThreadNumber>,
) -> OwnerEvidence {
    let blocks = &recording.profile().blocks;
    let unit = recording.profile().estimator.bytes_per_sample();
    let alive = owner.live.iter();
    let alive = alive.map(|one| {
        (clock.at(blocks.allocated(one.row).seconds()), blocks.samples(one.row) as f64 * unit)
    });
    let lifetimes = owner.lifetimes();
    let threads = last_thread.map(|last| threads::sizes(owner, last, clock, end));
    let known = with_births(known, alive);
    OwnerEvidence {
        freed: freed(&lifetimes),
        waiting: waiting(&lifetimes),
        stayed: owner.places.iter().map(|place| place.stayed).sum(),
        threads: threads.unwrap_or_default(),
        replaced: replaced(owner),
        recursion: owner.recursion().1,
        ..known
    }
}

/// Adds the dates of blocks that are alive: work at the allocation of each, and the bytes that it stands for.
pub(super) fn with_births(
    owner: OwnerEvidence,
    alive: impl Iterator<Item = (f64, f64)>,
) -> OwnerEvidence {
    let mut alive: Vec<(f64, f64)> = alive.collect();
    alive.sort_rows_by(|a, b| a.0.total_cmp(&b.0));
    let (births, weights) = subsampled(&alive, MAX_DATES).into_iter().unzip();
    OwnerEvidence { live: alive.len() as u64, births, weights, ..owner }
}

/// Subsample of the blocks that were freed.
pub(super) fn freed(lifetimes: &[Lifetime]) -> Vec<Life> {
    let life = |of: &Lifetime| Some(Life { born: of.allocated, died: of.freed?, bytes: of.bytes });
    let mut lives: Vec<Life> = lifetimes.iter().filter_map(life).collect();
    lives.sort_rows_by(|a, b| a.born.total_cmp(&b.born));
    let all = lives.len() as f64;
    let mut lives = subsampled(&lives, MAX_DATES);
    // Each of those that are left stands for others.
    let each = all / lives.len().max(1) as f64;
    for life in &mut lives {
        life.bytes *= each;
    }
    lives
}

/// Bytes of blocks from the first half of the work that nobody has any more, and that were not collected.
fn waiting(lifetimes: &[Lifetime]) -> f64 {
    let early = lifetimes.iter().filter(|block| block.is_waiting && block.allocated <= 0.5);
    early.map(|block| block.bytes).sum()
}

/// Sizes of the blocks of a buffer, of which one is alive and each was replaced by a larger one.
fn replaced(owner: &Owner<'_>) -> Vec<(f64, u64)> {
    // A frame's blocks from the same place are no buffer.
    let of_place = |place: &owned::PlaceSamples| replaced_in(&place.all, owner.bytes());
    owner.places.iter().map(of_place).max_by_key(Vec::len).unwrap_or_default()
}

/// Sizes of blocks that one place allocated for a buffer. The block that is alive must have at least half of so many bytes.
pub(super) fn replaced_in(all: &[Lifetime], bytes: u64) -> Vec<(f64, u64)> {
    let mut owned = all.iter().filter(|block| block.is_owned);
    let (Some(last), None) = (owned.next(), owned.next()) else { return Vec::new() };
    // Small blocks of the same line come and go.
    let least = last.size / CHAIN;
    let mut blocks: Vec<&Lifetime> = all.iter().filter(|block| block.size >= least).collect();
    blocks.sort_rows_by(|a, b| a.allocated.total_cmp(&b.allocated));
    let grows = |two: &[&Lifetime]| two[1].size as f64 >= two[0].size as f64 * REPLACED;
    if last.size * 2 < bytes || !blocks.windows(2).all(grows) {
        return Vec::new();
    }
    let sizes = blocks.iter().map(|block| (block.allocated, block.size));
    sizes.chain([(1.0, last.size)]).collect()
}

/// Part of the allocation that is by the same call sites before and after each part of the work.
fn same_sites(clock: &Clock, recording: &Recording, end: f64) -> Vec<Option<f64>> {
    let blocks = &recording.profile().blocks;
    let mut numbers: HashMap<Vec<Site>, usize> = HashMap::new();
    let mut of_stack: HashMap<StackId, usize> = HashMap::new();
    // Of each call site, samples and blocks by part of the work.
    let mut sums: Vec<[u64; PARTS]> = Vec::new();
    let mut counts = [0_usize; PARTS];
    for row in blocks.rows().filter(|row| blocks.source(*row) != Source::External) {
        let at = blocks.allocated(row).seconds();
        if at > end {
            continue;
        }
        let number = *of_stack.entry(blocks.stack(row)).or_insert_with(|| {
            let next = numbers.len();
            let calls = sites(recording, row).take(CALLS).collect();
            *numbers.entry(calls).or_insert(next)
        });
        if number >= sums.len() {
            sums.resize(number + 1, [0; PARTS]);
        }
        let part = ((clock.at(at) * PARTS as f64) as usize).min(PARTS - 1);
        sums[number][part] += blocks.samples(row);
        counts[part] += 1;
    }
    let same = |split: usize| {
        let (before, after) = counts.split_at(split);
        let enough = |counts: &[usize]| counts.iter().sum::<usize>() >= SAMPLED;
        if !enough(before) || !enough(after) {
            return None;
        }
        let both = |of: &[u64; PARTS]| {
            let (before, after) = of.split_at(split);
            [before.iter().sum::<u64>() as f64, after.iter().sum::<u64>() as f64]
        };
        let [before, after] =
            sums.iter().map(both).fold([0.0, 0.0], |[a, b], [c, d]| [a + c, b + d]);
        let common = sums.iter().map(both).map(|[a, b]| (a / before).min(b / after));
        Some(common.sum::<f64>())
    };
    (1..PARTS).map(same).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_the_work_then_minor_collections_then_snapshots() {
        let work = |words: &[u64], minor: &[u64]| {
            let known = |counts: &[u64]| (!counts.is_empty()).then(|| counts.to_vec());
            Counted { words: known(words), minor: known(minor) }.work(4)
        };
        assert_eq!(work(&[10, 50, 60, 100], &[1, 2, 3, 40]), [0.1, 0.5, 0.6, 1.0]);
        assert_eq!(work(&[10, 50, 40, 100], &[4, 8, 20, 40]), [0.1, 0.2, 0.5, 1.0]);
        assert_eq!(work(&[], &[4, 8, 20, 40]), [0.1, 0.2, 0.5, 1.0]);
        assert_eq!(work(&[0; 4], &[1, 2, 3, 4]), [0.25, 0.5, 0.75, 1.0]);
    }
}
