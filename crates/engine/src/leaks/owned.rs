//! What owners own: the sampled blocks of each, where they were allocated, and what became of others that were
//! allocated in the same places.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use memtrail_heap::graph::{OwnersOfBlocks, RootNodeId};
use memtrail_heap::query::OwnerRow;
use memtrail_order::SortRows as _;
use memtrail_profile::allocating_frame::allocating;
use memtrail_profile::blocks::Row;
use memtrail_profile::time::Elapsed;
use memtrail_trace::{FunctionId, Site, StackId};

use super::clock::Clock;
use super::own_code::OwnCode;
use super::thread_number::{self, ThreadNumber};
use crate::heap::join::{Live, live, sampled};
use crate::heap::loaded::LoadedSnapshot;
use crate::recording::Recording;

/// An owner, or several that are the same for a reader: frames of one function on several stacks.
pub(super) struct Owner<'s> {
    /// The kind of root.
    pub(super) kind: &'static str,
    /// Its name; of frames, that of the function and the line that own most.
    pub(super) name: String,
    /// What its roots have in common: the name, without the line of a frame.
    pub(super) group: String,
    /// The roots, that of most first.
    pub(super) rows: Vec<&'s OwnerRow>,
    /// Of a global variable without a name, what it holds; of those alone that are reported.
    pub(super) holds: Option<String>,
    /// Bytes in the heap.
    pub(super) owned: u64,
    /// Bytes outside.
    pub(super) external: u64,
    /// Its sampled blocks.
    pub(super) live: Vec<Live>,
    /// The places that allocated most of these, and mostly these; that of most first.
    pub(super) places: Vec<PlaceSamples>,
    /// Names and bytes of those that it was put together with, as they hand memory to each other.
    pub(super) merged: Vec<(String, u64)>,
    /// Of stacks of threads: the thread of each sampled block, and when that was allocated, in seconds.
    pub(super) threads: Vec<(ThreadNumber, f64)>,
}

/// A block that was sampled, by the clock of work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lifetime {
    /// Work at its allocation …
    pub(super) allocated: f64,
    /// … and, if it was, when it was freed.
    pub(super) freed: Option<f64>,
    /// Bytes that it stands for, by its size: a buffer of megabytes has the same in each sample of it.
    pub(super) bytes: f64,
    /// Its own bytes.
    pub(super) size: u64,
    /// True if the owner has it at the end.
    pub(super) is_owned: bool,
    /// True if nobody has it at the end, and it waits for a collection.
    pub(super) is_waiting: bool,
}

impl Lifetime {
    /// The lifetime of a block as it was at `end`, in seconds. It counts as owned unless it was freed.
    pub(super) fn of(recording: &Recording, clock: &Clock, row: Row, end: f64) -> Self {
        let profile = recording.profile();
        let blocks = &profile.blocks;
        let freed = blocks.collected(row).map(Elapsed::seconds).filter(|at| *at <= end);
        Self {
            allocated: clock.at(blocks.allocated(row).seconds()),
            freed: freed.map(|at| clock.at(at)),
            bytes: profile.estimator.bytes_of_block(
                blocks.length(row),
                blocks.source(row),
                blocks.halvings(row),
            ),
            size: blocks.length(row).0.saturating_mul(u64::from(profile.info.word_bits / 8)),
            is_owned: freed.is_none(),
            is_waiting: false,
        }
    }
}

/// The sampled blocks that were allocated in a place.
pub(super) struct PlaceSamples {
    /// Those that the owner owns.
    pub(super) owned: Vec<Live>,
    /// All that were allocated before the snapshot, with their lifetimes.
    pub(super) all: Vec<Lifetime>,
    /// Blocks that were allocated there after the snapshot, and never freed.
    pub(super) stayed: u64,
}

impl Owner<'_> {
    /// All bytes.
    pub(super) const fn bytes(&self) -> u64 {
        self.owned.saturating_add(self.external)
    }

    /// Calls of a recursive function that wait for each other, and the part of its bytes that others own than the one that
    /// owns most. Frames on several stacks are no recursion.
    pub(super) fn recursion(&self) -> (usize, f64) {
        if self.kind != "stack" {
            return (0, 0.0);
        }
        let mut of_stack: HashMap<&[String], (usize, u64, u64)> = HashMap::new();
        for row in &self.rows {
            let Some((_, stack)) = row.path.split_last() else { continue };
            let bytes = row.owned.0.saturating_add(row.owned_external.0);
            let (calls, sum, most) = of_stack.entry(stack).or_default();
            (*calls, *sum, *most) = (*calls + 1, *sum + bytes, bytes.max(*most));
        }
        let deepest = of_stack.values().map(|(calls, ..)| *calls).max().unwrap_or(0);
        let others: u64 = of_stack.values().map(|(_, sum, most)| sum - most).sum();
        (deepest, others as f64 / self.bytes().max(1) as f64)
    }

    /// The lifetimes of all blocks that were allocated in its places.
    pub(super) fn lifetimes(&self) -> Vec<Lifetime> {
        self.places.iter().flat_map(|place| place.all.iter().copied()).collect()
    }

    /// Puts the places of most samples first.
    pub(super) fn sort_places(&mut self, samples: impl Fn(Live) -> u64) {
        self.places.sort_rows_by_key(|place| {
            let sum: u64 = place.owned.iter().map(|one| samples(*one)).sum();
            (Reverse(sum), place.owned.first().map(|one| one.row))
        });
    }

    /// Adds what another owner has, that had the same memory before or after.
    pub(super) fn merge(&mut self, other: Self) {
        self.merged.push((other.name.clone(), other.bytes()));
        self.rows.extend(other.rows);
        self.owned = self.owned.saturating_add(other.owned);
        self.external = self.external.saturating_add(other.external);
        self.live.extend(other.live);
        self.places.extend(other.places);
        self.threads.extend(other.threads);
    }
}

/// What owners are put together by.
fn group_name(row: &OwnerRow) -> String {
    match row.kind {
        "stack" => function_of_frame(&own_name(row)).to_owned(),
        _ => row.name(),
    }
}

/// A row's name; of frames without their thread.
fn own_name(row: &OwnerRow) -> String {
    match row.kind {
        "stack" => row.path.last().cloned().unwrap_or_default(),
        _ => row.name(),
    }
}

/// What is common to the frames of a function. The stacks of threads and fibers come and go, and each may be at another line;
/// what they run stays. Anonymous functions differ by their lines alone.
pub(super) fn function_of_frame(frame: &str) -> &str {
    match frame.rsplit_once(" (") {
        Some((function, _)) if !function.ends_with("(fun)") => function,
        _ => frame,
    }
}

/// The name under which most is owned.
fn name_of_most(rows: &[&OwnerRow]) -> String {
    let mut sums: HashMap<String, u64> = HashMap::new();
    for row in rows {
        *sums.entry(own_name(row)).or_default() += row.owned.0.saturating_add(row.owned_external.0);
    }
    let most = sums.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
    most.map(|(name, _)| name).unwrap_or_default()
}

/// A place is an owner's if so many of the live blocks from there are. Garbage that waits for a collection does not count.
const MOSTLY: f64 = 0.5;

/// All owners, those of most first, with what was sampled of the largest; `end` is when the snapshot was taken.
pub(super) fn owners<'s>(
    loaded: &'s LoadedSnapshot,
    block_owners: &OwnersOfBlocks<'_>,
    recording: &'s Recording,
    own: &OwnCode<'_>,
    clock: &Clock,
    end: f64,
) -> Vec<Owner<'s>> {
    let mut owners: Vec<Owner<'_>> = Vec::new();
    let mut numbers: HashMap<(&'static str, String), usize> = HashMap::new();
    let mut of_root: HashMap<RootNodeId, (usize, Option<ThreadNumber>)> = HashMap::new();
    for row in &loaded.owners().rows {
        let name = group_name(row);
        let number = *numbers.entry((row.kind, name.clone())).or_insert_with(|| {
            owners.push(Owner {
                kind: row.kind,
                name: String::new(),
                group: name,
                rows: Vec::new(),
                holds: None,
                owned: 0,
                external: 0,
                live: Vec::new(),
                places: Vec::new(),
                merged: Vec::new(),
                threads: Vec::new(),
            });
            owners.len() - 1
        });
        let owner = &mut owners[number];
        owner.rows.push(row);
        owner.owned += row.owned.0;
        owner.external += row.owned_external.0;
        of_root.insert(row.owner, (number, thread_number::number(row)));
    }
    for owner in &mut owners {
        owner.name = name_of_most(&owner.rows);
    }
    for one in live(loaded, recording) {
        let root = block_owners.get(one.block);
        if let Some((number, thread)) = root.and_then(|root| of_root.get(&root)) {
            let allocated = recording.profile().blocks.allocated(one.row).seconds();
            owners[*number].live.push(one);
            owners[*number].threads.extend(thread.map(|thread| (thread, allocated)));
        }
    }
    let dead: HashSet<Row> = sampled(loaded, recording)
        .filter(|block| !block.is_alive)
        .filter_map(|block| block.row)
        .collect();
    find_places(&mut owners, &dead, recording, own, clock, end);
    owners.sort_rows_by_key(|owner| Reverse(owner.bytes()));
    owners
}

/// What identifies a place: the call that allocated, and the nearest of the program's own.
type PlaceKey = (Option<Site>, Option<Site>);

/// The number of a place.
type PlaceNumber = usize;

/// The places of all stacks, as numbers.
struct PlacesOfStacks<'r> {
    recording: &'r Recording,
    own: &'r OwnCode<'r>,
    of_stack: HashMap<StackId, PlaceNumber>,
    numbers: HashMap<PlaceKey, PlaceNumber>,
    /// The number of the next one.
    count: usize,
}

impl<'r> PlacesOfStacks<'r> {
    fn new(recording: &'r Recording, own: &'r OwnCode<'r>) -> Self {
        let (of_stack, numbers) = (HashMap::new(), HashMap::new());
        Self { recording, own, of_stack, numbers, count: 0 }
    }

    fn of(&mut self, row: Row) -> PlaceNumber {
        let profile = self.recording.profile();
        let stack = profile.blocks.stack(row);
        if let Some(known) = self.of_stack.get(&stack) {
            return *known;
        }
        let from = allocating(&profile.locations, &profile.stacks, stack);
        let innermost = (from != StackId::ROOT)
            .then(|| profile.locations.at(profile.stacks.frame(from)).last().copied())
            .flatten();
        let mut sites = crate::heap::samples::sites(self.recording, row);
        let nearest = sites.find(|site| self.own.is_own(*site));
        let count = &mut self.count;
        let place = *self.numbers.entry((innermost, nearest)).or_insert_with(|| next(count));
        self.of_stack.insert(stack, place);
        place
    }

    /// Splits places by a caller: the one that is so many calls of the program's own beyond the nearest. `rows` are blocks
    /// of all stacks that lead to these places.
    fn split(
        &mut self,
        mixed: &HashSet<PlaceNumber>,
        rows: impl Iterator<Item = Row>,
        beyond: usize,
    ) {
        let mut parts: HashMap<(PlaceNumber, Option<FunctionId>), PlaceNumber> = HashMap::new();
        let mut seen: HashSet<StackId> = HashSet::new();
        for row in rows {
            let stack = self.recording.profile().blocks.stack(row);
            let place = self.of(row);
            if mixed.contains(&place) && seen.insert(stack) {
                let caller = self.own.callers(row).nth(beyond);
                let count = &mut self.count;
                let part = *parts.entry((place, caller)).or_insert_with(|| next(count));
                self.of_stack.insert(stack, part);
            }
        }
    }
}

/// The next number.
const fn next(count: &mut usize) -> PlaceNumber {
    *count += 1;
    *count - 1
}

/// The sampled blocks of each owner by the place that allocated them.
type OfPlaces = HashMap<PlaceNumber, HashMap<usize, Vec<Live>>>;

fn of_places(owners: &[Owner<'_>], places: &mut PlacesOfStacks<'_>) -> OfPlaces {
    let mut owned: OfPlaces = HashMap::new();
    for (number, owner) in owners.iter().enumerate() {
        for one in &owner.live {
            let of_place = owned.entry(places.of(one.row)).or_default();
            of_place.entry(number).or_default().push(*one);
        }
    }
    owned
}

/// A place that allocates for several owners is split by its callers if no owner has so many of its live blocks: they tell
/// who allocates for whom …
const ALONE: f64 = 0.9;
/// … this many of them, at most.
const MAX_SPLITS: usize = 4;

fn find_places(
    owners: &mut [Owner<'_>],
    dead: &HashSet<Row>,
    recording: &Recording,
    own: &OwnCode<'_>,
    clock: &Clock,
    end: f64,
) {
    let profile = recording.profile();
    let blocks = &profile.blocks;
    let samples =
        |blocks_of: &[Live]| blocks_of.iter().map(|one| blocks.samples(one.row)).sum::<u64>();
    let mut places = PlacesOfStacks::new(recording, own);
    let mut owned = of_places(owners, &mut places);
    for beyond in 0..MAX_SPLITS {
        let is_mixed = |of_owner: &HashMap<usize, Vec<Live>>| {
            let all = || of_owner.values().map(|blocks| samples(blocks));
            (all().max().unwrap_or(0) as f64) < all().sum::<u64>() as f64 * ALONE
        };
        let mixed = owned.iter().filter(|(_, of_owner)| is_mixed(of_owner));
        let mixed: HashSet<PlaceNumber> = mixed.map(|(place, _)| *place).collect();
        if mixed.is_empty() {
            break;
        }
        places.split(&mixed, blocks.rows(), beyond);
        owned = of_places(owners, &mut places);
    }
    // All that was allocated in these places.
    let mut all: HashMap<usize, Vec<(Row, Lifetime)>> = HashMap::new();
    let mut stayed: HashMap<usize, u64> = HashMap::new();
    for row in blocks.rows() {
        let allocated = blocks.allocated(row).seconds();
        let place = places.of(row);
        if !owned.contains_key(&place) {
            continue;
        }
        if allocated > end {
            *stayed.entry(place).or_default() += u64::from(blocks.collected(row).is_none());
            continue;
        }
        let mut lifetime = Lifetime::of(recording, clock, row, end);
        lifetime.is_waiting = lifetime.freed.is_none() && dead.contains(&row);
        all.entry(place).or_default().push((row, lifetime));
    }
    for (place, of_owner) in owned {
        let whole = of_owner.values().map(|blocks| samples(blocks)).sum::<u64>() as f64;
        let most =
            of_owner.into_iter().max_by_key(|(number, blocks)| (samples(blocks), Reverse(*number)));
        let Some((number, owned)) = most else { continue };
        if samples(&owned) as f64 >= whole * MOSTLY
            && let Some(all) = all.remove(&place)
        {
            let rows: HashSet<Row> = owned.iter().map(|one| one.row).collect();
            let owned_or_not =
                |(row, of): (Row, Lifetime)| Lifetime { is_owned: rows.contains(&row), ..of };
            let all = all.into_iter().map(owned_or_not).collect();
            let stayed = stayed.get(&place).copied().unwrap_or(0);
            owners[number].places.push(PlaceSamples { owned, all, stayed });
        }
    }
    for owner in owners {
        owner.places.sort_rows_by_key(|place| {
            (Reverse(samples(&place.owned)), place.owned.first().map(|one| one.row))
        });
    }
}
