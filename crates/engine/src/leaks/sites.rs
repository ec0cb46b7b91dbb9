//! Suspects in recordings without heap snapshots: call sites that allocate ever more than is freed.
//!
//! It is for programs that free their memory themselves. What they have not freed is alive, whether anything refers to it
//! or not, so the blocks of a call site are judged as those of an owner are. A function that allocates for the whole
//! program, such as `xmalloc`, does not grow where one of many of its callers does: then the callers are judged.
//!
//! Of an OCaml program whose calls of `malloc` are recorded beside its heap, what `malloc` gave is judged. Who owns what
//! grows on the heap is for snapshots to tell.

use std::cmp::Reverse;
use std::collections::HashMap;

use memtrail_heap::Bytes;
use memtrail_profile::blocks::Row;
use memtrail_profile::time::Elapsed;
use memtrail_trace::{Site, StackId, malloc};

use super::clock::Clock;
use super::growth::{GrowthRate, Judgement};
use super::own_code::OwnCode;
use super::response::{ClearedOwner, LeaksResponse, Place, Suspect};
use super::sampled::{self, Lifetime};
use super::{MAX_CLEARED, MAX_SUSPECTS, MIN_BYTES, MIN_SHARE, descriptions, waiting};
use crate::heap::samples::{allocating_site, sites};
use crate::recording::Recording;

/// Functions of a path, the one that allocates among them.
const PATH: usize = 3;
/// Nothing of a program's own calls this one.
const OUTERMOST: &str = "main";

/// Blocks that were allocated in one place, or on one path to it.
struct Allocated {
    /// The calls, the innermost first.
    path: Vec<Site>,
    lifetimes: Vec<Lifetime>,
}

impl Allocated {
    /// Bytes that are not freed.
    fn bytes(&self) -> f64 {
        alive(&self.lifetimes).map(|block| block.bytes).sum()
    }
}

fn alive(lifetimes: &[Lifetime]) -> impl Iterator<Item = &Lifetime> {
    lifetimes.iter().filter(|block| block.is_owned)
}

/// A place, or a path to it, that grows.
struct Growing {
    allocated: Allocated,
    growth: GrowthRate,
    /// What part of it was allocated on the path.
    share: f64,
}

/// Looks for leaks among call sites.
pub(crate) fn leaks(recording: &Recording, limit: usize) -> LeaksResponse {
    let end = recording.profile().end.seconds();
    let clock = Clock::new(recording.profile(), end);
    let own = OwnCode::new(recording);
    let places = by_place(recording, &own, &clock);
    let all: f64 = places.iter().flatten().map(Allocated::bytes).sum();
    let least = MIN_BYTES.max(all * MIN_SHARE);
    let judge = |lifetimes: &[Lifetime]| judge(lifetimes, &clock, end);
    let (owners, mut sampled, mut unjudged) = (places.len(), 0, 0.0);
    let (mut growing, mut cleared) = (Vec::new(), Vec::new());
    for paths in places {
        let whole: Vec<Lifetime> =
            paths.iter().flat_map(|path| path.lifetimes.iter().copied()).collect();
        sampled += alive(&whole).count();
        let bytes: f64 = paths.iter().map(Allocated::bytes).sum();
        if bytes < least {
            continue;
        }
        let judgement = judge(&whole);
        let before = growing.len();
        if let Judgement::Grows(growth) = judgement
            && growth.grown >= least
        {
            let most = paths.into_iter().max_by(|a, b| a.bytes().total_cmp(&b.bytes()));
            growing.extend(most.map(|most| {
                let share = most.bytes() / bytes;
                // What others allocate there and free has nothing to do with it.
                let is_alone = share >= descriptions::NEARLY_ALL;
                let lifetimes = if is_alone { most.lifetimes } else { whole };
                Growing { share, allocated: Allocated { lifetimes, path: most.path }, growth }
            }));
            continue;
        }
        let name = paths.first().and_then(|path| own.place(*path.path.first()?));
        for allocated in paths {
            if let Judgement::Grows(growth) = judge(&allocated.lifetimes)
                && growth.grown >= least
                && allocated.bytes() >= least
            {
                growing.push(Growing { allocated, growth, share: 1.0 });
            }
        }
        if growing.len() == before {
            unjudged += if judgement == Judgement::Unknown { bytes } else { 0.0 };
            cleared.extend(name.map(|name| ClearedOwner {
                owner: short(&name).to_string(),
                bytes: Bytes(bytes as u64),
                share: bytes / all,
                reason: descriptions::reason_of_site(&judgement, &whole),
            }));
        }
    }
    growing.sort_by(|a, b| b.growth.rate.value.total_cmp(&a.growth.rate.value));
    growing.truncate(limit.min(MAX_SUSPECTS));
    cleared.sort_by_key(|owner| Reverse(owner.bytes));
    cleared.truncate(MAX_CLEARED);
    let mut response = LeaksResponse {
        suspects: growing.iter().map(|one| suspect(one, &own, &clock, all)).collect(),
        cleared,
        summary: Vec::new(),
        owners,
        alive: Bytes(all as u64),
        seconds: end,
        snapshots: 0,
        sampled,
        unjudged: Bytes(unjudged as u64),
        unreachable: None,
    };
    response.summary = descriptions::summary_of_sites(&response);
    if recording.description.has_malloc && recording.snapshots.len() == 0 {
        response.summary.push(descriptions::OCAML_HEAP_NOT_JUDGED.to_owned());
    }
    response
}

/// Whether what was allocated somewhere grows.
fn judge(lifetimes: &[Lifetime], clock: &Clock, end: f64) -> Judgement {
    match waiting::waits_since(clock, end).filter(|_| waiting::is_kept(lifetimes)) {
        Some(since) => waiting::by_samples(lifetimes, clock, since),
        None => sampled::by_samples(lifetimes, clock),
    }
}

/// The sampled blocks of each call site, by the paths to it.
fn by_place(recording: &Recording, own: &OwnCode<'_>, clock: &Clock) -> Vec<Vec<Allocated>> {
    let profile = recording.profile();
    let blocks = &profile.blocks;
    let mut places: Vec<Vec<Allocated>> = Vec::new();
    let mut of_stack: HashMap<StackId, (usize, usize)> = HashMap::new();
    let mut of_site: HashMap<Option<Site>, usize> = HashMap::new();
    let is_judged =
        |row: &Row| !recording.description.has_malloc || blocks.domain(*row) == malloc::DOMAIN;
    for row in blocks.rows().filter(is_judged) {
        let stack = blocks.stack(row);
        let (place, path) = *of_stack.entry(stack).or_insert_with(|| {
            let calls = path(recording, own, row);
            let place = *of_site.entry(calls.first().copied()).or_insert_with(|| {
                places.push(Vec::new());
                places.len() - 1
            });
            let paths = &mut places[place];
            let known = paths.iter().position(|known| known.path == calls);
            let path = known.unwrap_or_else(|| {
                paths.push(Allocated { path: calls, lifetimes: Vec::new() });
                paths.len() - 1
            });
            (place, path)
        });
        let freed = blocks.collected(row).map(Elapsed::seconds);
        places[place][path].lifetimes.push(Lifetime {
            allocated: clock.at(blocks.allocated(row).seconds()),
            freed: freed.map(|at| clock.at(at)),
            bytes: blocks.samples(row) as f64 * profile.estimator.bytes_per_sample(),
            size: blocks.length(row).0.saturating_mul(u64::from(profile.info.word_bits / 8)),
            is_owned: freed.is_none(),
        });
    }
    places
}

/// The call that allocated a block, and the calls of other functions that led there.
fn path(recording: &Recording, own: &OwnCode<'_>, row: Row) -> Vec<Site> {
    let Some(allocating) = allocating_site(recording, row) else { return Vec::new() };
    let mut path = vec![allocating];
    for site in sites(recording, row).skip_while(|site| *site != allocating) {
        let Some(inner) = path.last().filter(|_| path.len() < PATH) else { break };
        let name = |site| own.place(site).map(|place| place.function);
        if name(*inner).as_deref() == Some(OUTERMOST) {
            break;
        }
        // A recursive function is one caller; what has no name is a place in a library.
        let is_named = name(site).is_some_and(|name| !name.contains("+0x"));
        if inner.function != site.function && is_named {
            path.push(site);
        }
    }
    path
}

/// The calls that allocate, of all blocks of a recording.
pub(crate) struct AllocationPaths<'r> {
    recording: &'r Recording,
    own: OwnCode<'r>,
}

impl<'r> AllocationPaths<'r> {
    pub(crate) fn new(recording: &'r Recording) -> Self {
        Self { recording, own: OwnCode::new(recording) }
    }

    /// The call that allocated a block, and the calls of other functions that led there.
    pub(crate) fn of(&self, row: Row) -> Vec<Site> {
        path(self.recording, &self.own, row)
    }

    /// These calls, to be shown.
    pub(crate) fn places(&self, path: &[Site]) -> Vec<Place> {
        path.iter().filter_map(|site| self.own.place(*site)).map(|place| short(&place)).collect()
    }
}

/// A place as it is read: compilers note files with all their folders.
fn short(place: &Place) -> Place {
    let name = |file: &String| file.rsplit('/').next().unwrap_or_default().to_owned();
    Place { file: place.file.as_ref().map(name), ..place.clone() }
}

fn suspect(one: &Growing, own: &OwnCode<'_>, clock: &Clock, all: f64) -> Suspect {
    let Growing { allocated, growth, share } = one;
    let places: Vec<Place> = allocated.path.iter().filter_map(|site| own.place(*site)).collect();
    let looked_at =
        allocated.lifetimes.iter().filter(|block| block.allocated <= sampled::LOOKED_AT);
    let freed = looked_at.clone().filter(|block| block.freed.is_some()).count() as u64;
    let not_freed = looked_at.count() as u64 - freed;
    let mut moments: Vec<f64> = alive(&allocated.lifetimes).map(|block| block.allocated).collect();
    moments.sort_by(f64::total_cmp);
    let half = moments.get(moments.len() / 2).map(|part| clock.time(*part));
    let bytes = Bytes(allocated.bytes() as u64);
    let of_all = bytes.0 as f64 / all;
    let short: Vec<Place> = places.iter().map(short).collect();
    let site = short.first().map_or_else(|| "[no callstack]".to_owned(), Place::to_string);
    Suspect {
        rule: "growing allocation site",
        heading: descriptions::heading(bytes, of_all, "what is alive", growth),
        descriptions: vec![descriptions::allocated_at(&short, *share, freed)],
        evidence: descriptions::evidence_of_site(growth, not_freed, freed, half),
        next: None,
        owner: site,
        holds: None,
        kind: "site",
        r#type: None,
        position: None,
        node: String::new(),
        owned: bytes,
        owned_external: Bytes(0),
        share: of_all,
        growth: *growth,
        entries: None,
        values: None,
        values_allocated: None,
        allocated: places,
        closure: None,
        allocated_share: *share,
        added: None,
        alive: not_freed,
        freed,
    }
}
