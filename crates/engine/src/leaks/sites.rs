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
use memtrail_order::SortRows as _;
use memtrail_profile::blocks::Row;
use memtrail_trace::{FileId, FunctionId, Site, Source, StackId, malloc};

use super::clock::Clock;
use super::gathered;
use super::growth::GrowthRate;
use super::own_code::OwnCode;
use super::owned::Lifetime;
use super::response::{ClearedOwner, Conclusion, LeaksResponse, Place, Suspect};
use super::teardown::Teardown;
use super::verdict::{self, Class, Evidence, Judged, LEAST, OwnerEvidence, SHARE};
use super::{MAX_CLEARED, MAX_SUSPECTS, descriptions, teardown, unrecorded};
use crate::heap::samples::{allocating_site, sites};
use crate::library_units::{is_library_file, is_library_name};
use crate::recording::Recording;

/// Steps of the work at which sizes are estimated: as many as there are snapshots at most.
const STEPS: usize = 24;
/// The youngest part of the work is not looked at: what was allocated there may be in use still.
const LOOKED_AT: f64 = 0.9;
/// Functions of a path, the one that allocates among them.
const PATH: usize = 3;
/// Nothing of a program's own calls this one.
const OUTERMOST: &str = "main";

/// Work by which blocks are dated. Mappings have a clock of their own. The memory that one of them reserves would be most of the
/// work of a program that allocates little else. And a program that maps its memory allocates nothing by `malloc`.
struct Clocks {
    allocations: Clock,
    mappings: Clock,
}

impl Clocks {
    fn new(recording: &Recording, end: f64) -> Self {
        let profile = recording.profile();
        let is_mapping = |row| is_mapping(recording, row);
        Self {
            allocations: Clock::new(profile, end),
            mappings: Clock::counting(profile, end, is_mapping),
        }
    }

    const fn of(&self, is_mapping: bool) -> &Clock {
        if is_mapping { &self.mappings } else { &self.allocations }
    }
}

/// True for blocks that are judged. Beside OCaml's heap, these are memory from `malloc` and mappings.
fn is_judged(recording: &Recording, row: Row) -> bool {
    let blocks = &recording.profile().blocks;
    !recording.description.has_malloc || blocks.domain(row) == malloc::DOMAIN
}

fn is_mapping(recording: &Recording, row: Row) -> bool {
    is_judged(recording, row) && recording.profile().blocks.source(row) == Source::External
}

/// Blocks that were allocated in one place, or on one path to it.
struct Allocated {
    is_mapping: bool,
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
    class: Class,
    /// What part of it was allocated on the path.
    share: f64,
}

/// Seconds that a program ran: it may allocate nothing for a long time at its end.
fn lasted(recording: &Recording) -> f64 {
    let end = recording.profile().end.seconds();
    // Nothing is known of what it did after the trace was cut.
    if recording.description.incomplete.is_some() {
        return end;
    }
    let memory = recording.description.process.memory.as_ref();
    let measured = memory.and_then(|memory| memory.seconds.last()).copied().unwrap_or(0.0);
    let present = recording.description.present.map_or(0.0, |present| present.seconds);
    let whole = end.max(measured).max(present);
    // While the copy for it was made, the program stood.
    recording.description.exit_snapshot.map_or(whole, |taken| whole.min(end.max(taken)))
}

/// When a program that frees its memory itself begins to end, in seconds, and what it frees then.
pub(crate) fn end_of_work(recording: &Recording) -> (f64, Option<Teardown>) {
    let whole = lasted(recording);
    let clock = Clock::new(recording.profile(), whole);
    // A program that a signal ended had no time to free anything: what it freed last was its work.
    let teardown = if recording.description.is_stopped {
        None
    } else {
        teardown::of_samples(recording, |work| clock.time(work))
    };
    (teardown.map_or(whole, |teardown| teardown.judged_at), teardown)
}

/// Looks for leaks among call sites.
pub(crate) fn leaks(recording: &Recording, limit: usize) -> LeaksResponse {
    let (end, teardown) = end_of_work(recording);
    let clocks = Clocks::new(recording, end);
    let own = OwnCode::new(recording);
    let places = by_place(recording, &own, &clocks, end);
    let all: f64 = places.iter().flatten().map(Allocated::bytes).sum();
    let least = LEAST.max(all * SHARE);
    let has_mappings = places.iter().flatten().any(|path| path.is_mapping);
    let new = |is_mapping| Judge::new(&places, recording, (&clocks, is_mapping), end);
    let mut allocations = new(false);
    let mut mappings = has_mappings.then(|| new(true));
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
        let is_mapping = paths.first().is_some_and(|path| path.is_mapping);
        let clock = clocks.of(is_mapping);
        let judge = mappings.as_mut().filter(|_| is_mapping).unwrap_or(&mut allocations);
        let name = paths.first().and_then(|path| own.place(*path.path.first()?));
        let Some(judged) = judge.of(&whole, name.as_ref()) else { continue };
        let growth = |judged: &Judged, lifetimes: &[Lifetime]| {
            GrowthRate::of(judged, alive(lifetimes).count(), (clock, &[]), end)
        };
        if judged.class.is_suspect() {
            let growth = growth(&judged, &whole);
            let most = paths.into_iter().max_by(|a, b| a.bytes().total_cmp(&b.bytes()));
            growing.extend(most.map(|most| {
                let share = most.bytes() / bytes;
                // What others allocate there and free has nothing to do with it.
                let is_alone = share >= descriptions::NEARLY_ALL;
                let lifetimes = if is_alone { most.lifetimes } else { whole };
                let allocated = Allocated { lifetimes, is_mapping, path: most.path };
                Growing { share, allocated, growth, class: judged.class }
            }));
            continue;
        }
        let before = growing.len();
        for allocated in paths.into_iter().filter(|path| path.bytes() >= least) {
            let of_path = judge.of(&allocated.lifetimes, name.as_ref());
            if let Some(judged) = of_path.filter(|judged| judged.class.is_suspect()) {
                let growth = growth(&judged, &allocated.lifetimes);
                growing.push(Growing { allocated, growth, class: judged.class, share: 1.0 });
            }
        }
        if growing.len() == before {
            let is_unjudged = judged.class == Class::Undecided && judged.is_large;
            unjudged += if is_unjudged { bytes } else { 0.0 };
            cleared.extend(name.map(|name| ClearedOwner {
                owner: short(&name).to_string(),
                class: judged.class,
                bytes: Bytes(bytes as u64),
                share: bytes / all,
                reason: descriptions::class_reason(&judged, None, alive(&whole).count()),
            }));
        }
    }
    growing.sort_rows_by(|a, b| b.growth.grown.total_cmp(&a.growth.grown));
    let limit = limit.min(MAX_SUSPECTS);
    let left_out = growing.len().saturating_sub(limit);
    growing.truncate(limit);
    cleared.sort_rows_by_key(|owner| Reverse(owner.bytes));
    cleared.truncate(MAX_CLEARED);
    let mut response = LeaksResponse {
        unrecorded: unrecorded::of_native(recording, &clocks.allocations, all),
        teardown,
        suspects: growing
            .iter()
            .map(|one| suspect(one, &own, &clocks, (all, end), teardown))
            .collect(),
        cleared,
        conclusion: Conclusion::default(),
        left_out,
        summary: Vec::new(),
        owners,
        alive: Bytes(all as u64),
        seconds: end,
        snapshots: 0,
        snapshots_taken: None,
        sampled,
        unjudged: Bytes(unjudged as u64),
        unowned: Bytes(0),
        after_last: Bytes(0),
        unreachable: None,
        damaged: Vec::new(),
        incomplete: recording.description.incomplete.clone(),
        unexamined: None,
        freed_at_end: None,
        evidence: evidence_of(allocations, mappings),
    };
    response.summary = descriptions::summary_of_sites(&response);
    response.summary.extend(teardown.map(|teardown| teardown.description()));
    if recording.description.has_malloc && recording.snapshots.len() == 0 {
        response.summary.push(descriptions::OCAML_HEAP_NOT_JUDGED.to_owned());
    }
    response
}

/// The evidence to keep. There are two clocks only where there are mappings: then that of the larger memory.
fn evidence_of(allocations: Judge, mappings: Option<Judge>) -> Evidence {
    let size = |judge: &Judge| judge.all.alive.last().copied().unwrap_or(0);
    mappings.filter(|of| size(of) > size(&allocations)).unwrap_or(allocations).all
}

/// Judges call sites by their sizes, estimated at even steps of the work: of what a program frees itself each moment is known.
struct Judge {
    /// What was judged.
    all: Evidence,
    /// The moments of these sizes: the first allocation from each even step of the work on. One large block that
    /// replaces another takes up much work, and in the middle of that neither would be there.
    moments: Vec<f64>,
}

impl Judge {
    fn new(
        places: &[Vec<Allocated>],
        recording: &Recording,
        (clocks, is_mapping): (&Clocks, bool),
        end: f64,
    ) -> Self {
        let mut all = gathered::common(clocks.of(is_mapping), recording, end);
        all.work = (1..=STEPS).map(|step| step as f64 / STEPS as f64).collect();
        all.is_estimated = true;
        let sites = || places.iter().flatten().filter(|site| site.is_mapping == is_mapping);
        let blocks = sites().flat_map(|site| &site.lifetimes);
        let mut allocated: Vec<f64> = blocks.map(|block| block.allocated).collect();
        allocated.sort_rows_by(f64::total_cmp);
        let first = |step: &f64| {
            let next = allocated.partition_point(|at| at < step);
            allocated.get(next).copied().unwrap_or(*step)
        };
        let moments: Vec<f64> = all.work.iter().map(first).collect();
        let sizes = sites().map(|site| sizes(&moments, &site.lifetimes));
        all.alive = sizes.fold(vec![0; STEPS], |sums, sizes| {
            sums.iter().zip(&sizes).map(|(sum, size)| sum + size).collect()
        });
        Self { all, moments }
    }

    fn of(&mut self, lifetimes: &[Lifetime], name: Option<&Place>) -> Option<Judged> {
        let owner = OwnerEvidence {
            kind: "site".to_owned(),
            name: name.map_or_else(String::new, Place::to_string),
            sizes: sizes(&self.moments, lifetimes),
            freed: gathered::freed(lifetimes),
            replaced: gathered::replaced_in(lifetimes, 0),
            ..OwnerEvidence::default()
        };
        let alive = alive(lifetimes).map(|block| (block.allocated, block.bytes));
        let owner = gathered::with_births(owner, alive);
        let evidence = Evidence { owners: vec![owner], ..self.all.clone() };
        let judged = verdict::judge(&evidence).pop();
        self.all.owners.extend(evidence.owners);
        judged
    }
}

/// Estimated sizes at parts of the work.
fn sizes(work: &[f64], lifetimes: &[Lifetime]) -> Vec<u64> {
    let size = |at: f64| {
        // The clock stands until the next sample: of blocks that replace each other before that, the last one was alive.
        let (mut kept, mut passing, mut is_replaced) = (0.0, 0.0_f64, false);
        for block in lifetimes.iter().filter(|block| block.allocated <= at) {
            let is_new = block.allocated >= at;
            match block.freed {
                Some(freed) if freed <= at && is_new => passing = passing.max(block.bytes),
                Some(freed) if freed <= at => {}
                _ => {
                    kept += block.bytes;
                    is_replaced |= is_new;
                }
            }
        }
        if is_replaced { kept } else { kept + passing }
    };
    work.iter().map(|at| size(*at) as u64).collect()
}

/// A line of a function.
type Line = (FunctionId, FileId, u32);

fn line(site: &Site) -> Line {
    (site.function, site.file, site.line)
}

/// The sampled blocks of each call site, by the paths to it, as they were at `end` in seconds.
fn by_place(
    recording: &Recording,
    own: &OwnCode<'_>,
    clocks: &Clocks,
    end: f64,
) -> Vec<Vec<Allocated>> {
    let profile = recording.profile();
    let blocks = &profile.blocks;
    let mut places: Vec<Vec<Allocated>> = Vec::new();
    let mut of_stack: HashMap<(StackId, bool), (usize, usize)> = HashMap::new();
    // Two calls on one line are one place for a reader.
    let mut of_site: HashMap<(bool, Option<Line>), usize> = HashMap::new();
    let is_judged = |row: &Row| is_judged(recording, *row);
    let is_before = |row: &Row| blocks.allocated(*row).seconds() <= end;
    for row in blocks.rows().filter(is_judged).filter(is_before) {
        let (stack, is_mapping) = (blocks.stack(row), is_mapping(recording, row));
        let (place, path) = *of_stack.entry((stack, is_mapping)).or_insert_with(|| {
            let calls = path(recording, own, row);
            let place =
                *of_site.entry((is_mapping, calls.first().map(line))).or_insert_with(|| {
                    places.push(Vec::new());
                    places.len() - 1
                });
            let paths = &mut places[place];
            let known = paths
                .iter()
                .position(|known| known.path.iter().map(line).eq(calls.iter().map(line)));
            let path = known.unwrap_or_else(|| {
                paths.push(Allocated { path: calls, is_mapping, lifetimes: Vec::new() });
                paths.len() - 1
            });
            (place, path)
        });
        let lifetime = Lifetime::of(recording, clocks.of(is_mapping), row, end);
        places[place][path].lifetimes.push(lifetime);
    }
    places
}

/// The call that allocated a block, and the calls of other functions of the program's that led there.
fn path(recording: &Recording, own: &OwnCode<'_>, row: Row) -> Vec<Site> {
    let Some(allocating) = allocating_site(recording, row) else { return Vec::new() };
    let program = recording.description.program.as_deref().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default();
    // A function without a name, of the program or of a library.
    let is_nameless_of_library =
        |name: &str| name.rsplit_once("+0x").is_some_and(|(object, _)| object != program);
    let mut path = vec![allocating];
    for site in sites(recording, row).skip_while(|site| *site != allocating) {
        let Some(inner) = path.last().filter(|_| path.len() < PATH) else { break };
        let name = |site| own.place(site).map(|place| place.function);
        if name(*inner).as_deref() == Some(OUTERMOST) {
            break;
        }
        // A recursive function is one caller. Closures are called by functions of the standard library, constructors by those
        // that make shared pointers.
        let is_own = name(site)
            .is_some_and(|name| !is_nameless_of_library(&name) && !is_library_name(&name, &[]))
            && !is_library_file(recording.entities.file_name(site.file));
        if inner.function != site.function && is_own {
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
        self.whole_places(path).iter().map(short).collect()
    }

    /// The places of these calls, with the folders of files, as suspects have them.
    pub(crate) fn whole_places(&self, path: &[Site]) -> Vec<Place> {
        path.iter().filter_map(|site| self.own.place(*site)).collect()
    }
}

/// A place as it is read: compilers note files with all their folders.
fn short(place: &Place) -> Place {
    let name = |file: &String| file.rsplit('/').next().unwrap_or_default().to_owned();
    Place { file: place.file.as_ref().map(name), ..place.clone() }
}

fn suspect(
    one: &Growing,
    own: &OwnCode<'_>,
    clocks: &Clocks,
    (all, end): (f64, f64),
    teardown: Option<Teardown>,
) -> Suspect {
    let Growing { allocated, growth, class, share } = one;
    let clock = clocks.of(allocated.is_mapping);
    let places: Vec<Place> = allocated.path.iter().filter_map(|site| own.place(*site)).collect();
    let looked_at = allocated.lifetimes.iter().filter(|block| block.allocated <= LOOKED_AT);
    let freed = looked_at.clone().filter(|block| block.freed.is_some()).count() as u64;
    let not_freed = looked_at.count() as u64 - freed;
    let mut moments: Vec<f64> = alive(&allocated.lifetimes).map(|block| block.allocated).collect();
    moments.sort_rows_by(f64::total_cmp);
    let is_dated = moments.len() >= descriptions::DATED;
    let half = moments.get(moments.len() / 2).filter(|_| is_dated).map(|part| clock.time(*part));
    let bytes = Bytes(allocated.bytes() as u64);
    let of_all = bytes.0 as f64 / all;
    let short: Vec<Place> = places.iter().map(short).collect();
    let site = short.first().map_or_else(|| "[no callstack]".to_owned(), Place::to_string);
    let it = descriptions::Sized {
        name: &format!("memory from {}", short.first().map_or("[no callstack]", |at| &at.function)),
        class: *class,
        size: bytes,
        share: of_all,
        of: "what is alive",
        whole: end,
    };
    Suspect {
        rule: "growing allocation site",
        class: *class,
        heading: descriptions::heading(&it, growth),
        descriptions: vec![descriptions::allocated_at(&short, *share, freed, teardown)],
        evidence: descriptions::evidence_of_site(growth, not_freed, freed, half),
        retained_by: Vec::new(),
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
        callers: Vec::new(),
        closure: None,
        allocated_share: *share,
        added: None,
        alive: not_freed,
        freed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of 145 MiB that `realloc` made larger in tiny steps "came and went". Two blocks counted that had replaced each other within
    /// one tick of the clock.
    #[test]
    fn of_blocks_that_replace_each_other_in_one_tick_the_last_one_counts() {
        let block = |allocated: f64, freed: Option<f64>, bytes: f64| Lifetime {
            allocated,
            freed,
            bytes,
            size: bytes as u64,
            is_owned: freed.is_none(),
            is_waiting: false,
        };
        let blocks = [
            block(0.1, Some(0.5), 100.0),
            block(0.5, Some(0.5), 101.0),
            block(0.5, Some(0.5), 102.0),
            block(0.5, Some(0.9), 103.0),
            block(0.9, Some(0.9), 200.0),
        ];
        assert_eq!(sizes(&[0.3, 0.5, 0.7, 0.9, 1.0], &blocks), [100, 103, 103, 200, 0]);
    }
}
