//! Leak suspects: which owners grow, what allocates what they own, and why it is not freed.
//!
//! | step | module |
//! |---|---|
//! | put sampled blocks to their owners, and other blocks from the same places beside them | [`owned`] |
//! | judge whether an owner grows, and still does | [`sampled`], [`growth`], [`waiting`], [`resized`], [`threads`] |
//! | look into those that do | [`contents`], [`evidence`] |
//! | describe the kind of leak | [`rules`] |
//! | say it | [`descriptions`] |
//!
//! Those of several processes are ranked together in [`family`].
//!
//! In recordings without snapshots of programs that free their memory themselves, call sites are judged instead: [`sites`].
//!
//! What grows by less than a thirtieth of what is alive is no suspect, nor what is too small. The responses have all
//! figures, and the descriptions made of them, so that all views say the same.

mod clock;
mod closures;
mod contents;
mod descriptions;
mod evidence;
pub(crate) mod family;
mod growth;
mod own_code;
mod owned;
mod resized;
mod response;
mod rules;
mod sampled;
pub(crate) mod sites;
mod thread_number;
mod threads;
mod waiting;

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use memtrail_heap::Bytes;
use memtrail_heap::graph::{Node, RootNodeId, SUPER_ROOT};
use memtrail_heap::query::{self, Summary};

pub use descriptions::{is_unjudged, of_process};
pub use family::{FamilyLeaksResponse, ProcessLeaks, ProcessSuspect, with_sites};
pub use growth::GrowthRate;
pub use response::{
    BlocksEstimate, ClearedOwner, LeaksResponse, NearestClosure, Place, Suspect,
    UnreachableResponse, UnreachableSite,
};

use crate::api_error::ApiError;
use crate::heap::allocated::Allocated;
use crate::heap::join::Live;
use crate::heap::loaded::{LoadedSnapshot, damaged};
use crate::heap::node;
use crate::heap::snapshot_store::Known;
use crate::names::shown;
use crate::query::HeapLeaks;
use crate::recording::Recording;
use clock::Clock;
use evidence::Evidence;
use growth::{Judgement, MIN_SHARE};
use own_code::OwnCode;
use owned::Owner;

/// Neither is what grows by less.
const MIN_BYTES: f64 = 128.0 * 1024.0;
/// Suspects at most.
const MAX_SUSPECTS: usize = 50;
/// Owners that are cleared by name, at most.
const MAX_CLEARED: usize = 8;

/// Looks for leaks in what is alive in a snapshot; `known` are the recording's snapshots.
pub(crate) fn leaks(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    known: &[Known],
    query: &HeapLeaks,
) -> Result<LeaksResponse, ApiError> {
    let own = OwnCode::new(recording);
    let history = History::new(loaded, recording, known);
    let block_owners = loaded.heap().graph.owners_of_blocks(loaded.heap().threads);
    let clock = Clock::new(recording.profile(), history.end);
    let mut owners = owned::owners(loaded, &block_owners, recording, &own, &clock, history.end);
    let heap = loaded.heap();
    let alive = heap.graph.held(SUPER_ROOT).bytes() + heap.graph.held_external(SUPER_ROOT);
    let last_thread = threads::last(&owners);
    let judgements = owners.iter().map(|owner| {
        let judgement = judge(owner, loaded, recording, &clock, &history);
        let of_threads = || threads::by_numbers(owner, last_thread?, history.end);
        match judgement {
            Judgement::Grows(_) => judgement,
            _ => of_threads().map_or(judgement, Judgement::Grows),
        }
    });
    let judgements: Vec<Judgement> = judgements.collect();
    let least = MIN_BYTES.max(alive.0 as f64 * MIN_SHARE);
    let is_large = |owner: &Owner<'_>| owner.bytes() as f64 >= least;
    let mut suspects: Vec<(usize, GrowthRate)> = Vec::new();
    for (number, judgement) in judgements.iter().enumerate() {
        if let Judgement::Grows(growth) = judgement
            && growth.grown >= least
            && is_large(&owners[number])
        {
            suspects.push((number, *growth));
        }
    }
    suspects.sort_by(|a, b| b.1.rate.value.total_cmp(&a.1.rate.value).then(a.0.cmp(&b.0)));
    let grow: HashSet<usize> = suspects.iter().map(|(number, _)| *number).collect();
    suspects.truncate(query.limit.min(MAX_SUSPECTS));
    // Suspects beyond the limit are not shown, and not cleared.
    let reported: BTreeSet<usize> = suspects.iter().map(|(number, _)| *number).collect();
    let large = (0..owners.len()).take_while(|number| is_large(&owners[*number]));
    let cleared = large.filter(|number| !grow.contains(number)).take(MAX_CLEARED);
    let cleared: Vec<usize> = cleared.collect();
    add_held(loaded, &mut owners, reported.into_iter().chain(cleared.iter().copied()))?;
    let mut of_root: HashMap<RootNodeId, usize> = HashMap::new();
    for (place, (number, _)) in suspects.iter().enumerate() {
        of_root.extend(owners[*number].rows.iter().map(|row| (row.owner, place)));
    }
    let allocated = Allocated::new(heap, &loaded.catalogue, recording);
    let contents = contents::contents(loaded, &allocated, &block_owners, &of_root, suspects.len())?;
    let details = suspects.iter().zip(&contents).map(|((number, growth), contents)| {
        let owner = &owners[*number];
        let evidence = look_into(owner, contents, recording, &own, loaded);
        suspect(loaded, recording, &own, &evidence, *growth, alive)
    });
    let details: Vec<Suspect> = details.collect();
    let cleared = cleared.into_iter().map(|number| {
        let owner = &owners[number];
        ClearedOwner {
            owner: shown(&descriptions::owner_name(owner)),
            bytes: Bytes(owner.bytes()),
            share: Bytes(owner.bytes()).share_of(alive),
            reason: descriptions::reason(owner, &judgements[number], recording, history.end),
        }
    });
    let cleared: Vec<ClearedOwner> = cleared.collect();
    let sampled = owners.iter().map(|owner| owner.live.len()).sum();
    let unjudged = owners
        .iter()
        .zip(&judgements)
        .filter(|(owner, judgement)| is_large(owner) && **judgement == Judgement::Unknown);
    let unjudged = unjudged.fold(0_u64, |sum, (owner, _)| sum.saturating_add(owner.bytes()));
    let mut response = LeaksResponse {
        unreachable: None,
        suspects: details,
        cleared,
        summary: Vec::new(),
        owners: owners.len(),
        alive,
        seconds: history.end,
        snapshots: history.times.len(),
        sampled,
        unjudged: Bytes(unjudged),
    };
    response.summary = descriptions::summary(&response);
    Ok(response)
}

/// The sizes of owners in several snapshots.
struct History {
    /// When the snapshot that is looked at was taken, in seconds since the start.
    end: f64,
    /// When each was taken.
    times: Vec<f64>,
    sizes: HashMap<(String, String), Vec<u64>>,
}

impl History {
    fn new(loaded: &LoadedSnapshot, recording: &Recording, known: &[Known]) -> Self {
        let profile = recording.profile();
        let start = profile.info.start.0 as f64 / 1e6;
        let at = |known: &Known| (known.facts.taken_unix - start).max(0.0);
        let number = loaded.heap().snapshot.facts.number;
        let this = known.iter().find(|known| known.facts.number == number);
        let end =
            this.filter(|known| known.facts.taken_unix > 0.0).map_or(profile.end.seconds(), at);
        let before = known.iter().filter(|known| known.facts.number <= number);
        let ready: Vec<(f64, &Summary)> = before
            .filter_map(|known| Some((at(known), known.summary.as_deref()?)))
            .filter(|(_, summary)| summary.damage.is_none())
            .collect();
        let names = loaded.stored_names();
        let mut sizes: HashMap<(String, String), Vec<u64>> = HashMap::new();
        for (place, (_, summary)) in ready.iter().enumerate() {
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
                let owned = owner.owned + owner.owned_external;
                sizes[place] = sizes[place].saturating_add(owned.0);
            }
        }
        Self { end, times: ready.iter().map(|(at, _)| *at).collect(), sizes }
    }
}

/// Whether an owner grows, in its number of blocks or in the size of one.
fn judge(
    owner: &Owner<'_>,
    loaded: &LoadedSnapshot,
    recording: &Recording,
    clock: &Clock,
    history: &History,
) -> Judgement {
    let judgement = judge_blocks(owner, recording, clock, history);
    if matches!(judgement, Judgement::Grows(_)) {
        return judgement;
    }
    let kind = |one: &Live| loaded.catalogue.name(loaded.catalogue.kind(one.block));
    let of_texts =
        owner.places.iter().find(|place| place.owned.iter().all(|one| is_text(kind(one))));
    let growth = of_texts.and_then(|place| resized::by_sizes(&place.all, clock));
    growth.map_or(judgement, Judgement::Grows)
}

/// Whether blocks of a kind are strings. Arrays of tables are replaced by larger ones, too, and go with what is in them.
fn is_text(kind: &str) -> bool {
    ["string", "bytes", "String.t", "Bytes.t"].contains(&kind.trim_start_matches("~ "))
}

/// Whether an owner grows: by its exact sizes, if there are enough and sampled blocks do not contradict them, or else by
/// what was sampled.
fn judge_blocks(
    owner: &Owner<'_>,
    recording: &Recording,
    clock: &Clock,
    history: &History,
) -> Judgement {
    let key = (owner.kind.to_owned(), owner.group.clone());
    let waits =
        waiting::waits_since(clock, history.end).filter(|_| waiting::is_kept(&owner.lifetimes()));
    let blocks = &recording.profile().blocks;
    let samples = |one: Live| blocks.samples(one.row);
    if let Some(sizes) = history.sizes.get(&key) {
        let mut judgement = growth::by_snapshots(&history.times, sizes);
        if judgement == Judgement::Steady
            && let Some(since) = waits
        {
            judgement = waiting::by_snapshots(&history.times, sizes, since);
        }
        if judgement != Judgement::Unknown {
            let allocated: Vec<(f64, u64)> = owner
                .live
                .iter()
                .map(|one| (blocks.allocated(one.row).seconds(), samples(*one)))
                .collect();
            let agrees = growth::agrees(&judgement, &history.times, sizes, &allocated);
            return if agrees { judgement } else { Judgement::Steady };
        }
    }
    let judgement = judge_samples(owner, recording, clock, history.end, waits);
    match history.sizes.get(&key).filter(|_| judgement == Judgement::Unknown) {
        Some(sizes) => growth::by_few_snapshots(&history.times, sizes),
        None => judgement,
    }
}

/// Whether an owner grows by what was sampled; `waits` is since when the program has waited.
fn judge_samples(
    owner: &Owner<'_>,
    recording: &Recording,
    clock: &Clock,
    end: f64,
    waits: Option<f64>,
) -> Judgement {
    let blocks = &recording.profile().blocks;
    let covered = owner.covered(|one: Live| blocks.samples(one.row));
    if covered < MIN_COVERED {
        let is_known = owner.live.len() >= descriptions::MIN_LIVE;
        return if is_known { Judgement::Steady } else { Judgement::Unknown };
    }
    let filled_early = descriptions::filled_early(owner, recording, end).is_some();
    let judgement = match waits {
        Some(since) if filled_early => waiting::by_samples(&owner.lifetimes(), clock, since),
        // What was filled before the program's allocation ceased, and is kept since, does not grow.
        _ if filled_early => {
            let middle = clock.at(end / 2.0);
            let is_steady = sampled::would_show(&owner.lifetimes(), clock, middle);
            return if is_steady { Judgement::Steady } else { Judgement::Unknown };
        }
        _ => sampled::by_samples(&owner.lifetimes(), clock),
    };
    match judgement {
        Judgement::Grows(mut growth) => {
            // What was allocated elsewhere grows as much.
            growth.rate.value /= covered;
            growth.rate.stderr /= covered;
            growth.grown = (growth.grown / covered).min(owner.bytes() as f64);
            Judgement::Grows(growth)
        }
        judgement => judgement,
    }
}

/// If a smaller part of what is alive was allocated in places whose blocks are mostly an owner's, its blocks come and
/// go.
const MIN_COVERED: f64 = 0.3;

/// Adds to owners without a name what they hold.
fn add_held(
    loaded: &LoadedSnapshot,
    owners: &mut [Owner<'_>],
    numbers: impl Iterator<Item = usize>,
) -> Result<(), ApiError> {
    let root = |number: usize| Some((number, owners.get(number)?.rows.first()?.root));
    let roots: Vec<(usize, RootNodeId)> = numbers.filter_map(root).collect();
    let wanted: Vec<RootNodeId> = roots.iter().map(|(_, root)| *root).collect();
    let held = query::held_by_roots(loaded.heap(), &wanted).map_err(damaged)?;
    for (number, root) in roots {
        owners[number].holds = held.get(&root).cloned();
    }
    Ok(())
}

fn look_into<'e>(
    owner: &'e Owner<'e>,
    contents: &'e contents::Contents,
    recording: &Recording,
    own: &OwnCode<'_>,
    loaded: &LoadedSnapshot,
) -> Evidence<'e> {
    let lifetimes = owner.places.first().map_or(&[][..], |place| &place.all);
    let old = lifetimes.iter().filter(|block| block.allocated <= sampled::LOOKED_AT);
    let freed = old.clone().filter(|block| block.freed.is_some()).count() as u64;
    let alive = old.count() as u64 - freed;
    let added_at = added_at(owner, contents, recording, own, loaded);
    Evidence { owner, contents, added_at, alive, freed }
}

/// Where the program adds entries: the nearest of its calls to the allocation of the container's own cells.
fn added_at(
    owner: &Owner<'_>,
    contents: &contents::Contents,
    recording: &Recording,
    own: &OwnCode<'_>,
    loaded: &LoadedSnapshot,
) -> Option<Place> {
    let container = contents.container.as_ref()?;
    let values = container.values.as_ref().map(|values| values.name.as_str());
    let mut places: Vec<(Place, u64)> = Vec::new();
    for one in &owner.live {
        let kind = loaded.catalogue.name(loaded.catalogue.kind(one.block));
        if !contents::is_cell(container.structure, kind) || Some(kind) == values {
            continue;
        }
        let Some(place) = own.own_places(*one).into_iter().next() else { continue };
        let samples = recording.profile().blocks.samples(one.row);
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, sum)) => *sum += samples,
            None => places.push((place, samples)),
        }
    }
    places.into_iter().max_by_key(|(_, samples)| *samples).map(|(place, _)| place)
}

fn suspect(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    own: &OwnCode<'_>,
    evidence: &Evidence<'_>,
    growth: GrowthRate,
    alive: Bytes,
) -> Suspect {
    let owner = evidence.owner;
    let blocks = &recording.profile().blocks;
    let samples = |lives: &[Live]| lives.iter().map(|one| blocks.samples(one.row)).sum::<u64>();
    let own_places = places_by_share(owner, samples, |one| own.own_places(one));
    let (mut allocated, mut allocated_share) = own_places.first().cloned().unwrap_or_default();
    let (mut closure, mut runs_loop) = (None, false);
    if allocated.is_empty() {
        closure = closures::nearest(owner, evidence.contents, own, loaded, recording);
        if closure.is_none() {
            (allocated, allocated_share) = largest_named(&own_places).unwrap_or_else(|| {
                runs_loop = true;
                let beyond = places_by_share(owner, samples, |one| own.places_beyond_loop(one));
                beyond.into_iter().next().unwrap_or_default()
            });
        }
    }
    let by = descriptions::AllocatedBy {
        places: &allocated,
        share: allocated_share,
        closure: closure.as_ref(),
        runs_loop,
    };
    let finding = rules::describe(evidence);
    let row = evidence.row();
    let share = Bytes(owner.bytes()).share_of(alive);
    let heading = descriptions::heading(Bytes(owner.bytes()), share, "the heap", &growth);
    let descriptions =
        vec![descriptions::allocated(evidence, &by), descriptions::owned(owner, &finding)];
    // What runs the loop has to do with everything.
    let next = allocated.first().filter(|_| !runs_loop).map(|place| place.function.clone());
    Suspect {
        rule: finding.rule,
        heading,
        descriptions: descriptions
            .into_iter()
            .filter(|description| !description.is_empty())
            .collect(),
        evidence: descriptions::evidence(evidence, &growth, recording),
        next,
        owner: shown(&owner.name),
        holds: owner.holds.as_deref().map(shown),
        kind: owner.kind,
        r#type: row.and_then(|row| row.r#type.as_deref()).map(shown),
        position: row.and_then(|row| row.position.as_deref()).map(shown),
        node: row.map_or_else(String::new, |row| node::text(loaded, Node::RootNode(row.root))),
        owned: Bytes(owner.owned),
        owned_external: Bytes(owner.external),
        share,
        growth,
        entries: evidence.contents.container.as_ref().and_then(|container| container.entries),
        values: evidence.values().map(|kind| shown(&kind.name)),
        values_allocated: evidence.values().and_then(|kind| kind.allocated.clone()),
        allocated,
        allocated_share,
        closure,
        added: evidence.added_at.clone(),
        alive: evidence.alive,
        freed: evidence.freed,
    }
}

/// Places, the innermost first, and what part of something was allocated there. There may be none: a library's event
/// loop allocated that part.
type PlaceShare = (Vec<Place>, f64);

/// If a smaller part was allocated in a place, that place is not named.
const MIN_NAMED: f64 = 0.1;

/// The places of the program's own that allocated what an owner owns, with their callers; that of the largest part first.
fn places_by_share(
    owner: &Owner<'_>,
    samples: impl Fn(&[Live]) -> u64,
    own_places: impl Fn(Live) -> Vec<Place>,
) -> Vec<PlaceShare> {
    let mut sums: Vec<(Vec<Place>, u64)> = Vec::new();
    for place in &owner.places {
        let Some(first) = place.owned.first() else { continue };
        let places = own_places(*first);
        let found = sums.iter_mut().find(|(known, _)| known.first() == places.first());
        match found {
            Some((_, sum)) => *sum += samples(&place.owned),
            None => sums.push((places, samples(&place.owned))),
        }
    }
    sums.sort_by_key(|(_, sum)| Reverse(*sum));
    let all = samples(&owner.live).max(1) as f64;
    sums.into_iter().map(|(places, sum)| (places, sum as f64 / all)).collect()
}

/// The largest part that was allocated in a place of the program's own, where event loops allocated most.
fn largest_named(places: &[PlaceShare]) -> Option<PlaceShare> {
    let named = |(places, share): &&PlaceShare| !places.is_empty() && *share >= MIN_NAMED;
    places.iter().find(named).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a page that leaks 43 % were allocated in a function of it, the rest from the server's event loop: named was the
    /// line that starts the server.
    #[test]
    fn a_function_of_the_program_is_named_rather_than_what_runs_the_loop() {
        let place =
            |function: &str| vec![Place { function: function.to_owned(), file: None, line: None }];
        let of_page = (place("Feed.each_second"), 0.43);
        let parts = [(Vec::new(), 0.52), of_page.clone(), (place("Feed.other"), 0.05)];
        assert_eq!(largest_named(&parts), Some(of_page));
        assert_eq!(largest_named(&[(Vec::new(), 0.95), (place("Feed.other"), 0.05)]), None);
    }
}
