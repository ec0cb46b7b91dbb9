//! The judgement of each owner, from its evidence.

use memtrail_order::SortRows as _;
use serde::{Deserialize, Serialize};

use super::births::{
    Dates, Renewal, began_late, dates, falls_behind, goes_on, is_early, is_renewed, renewal,
    turns_over,
};
use super::constants::{
    BASE, BLOCKS, CERTAIN, COVER, DEEP, ENDED, FILLED, LASTED, LATE, LEAST, NEAR, NEWEST,
    QUEUE_BYTES, RENEWED, REST, SHARE, START_BYTES, STOPPED, SURELY, UNDECIDED, UNDECIDED_BYTES,
    UNSAMPLED, WORKED_ON,
};
use super::evidence::{Evidence, OwnerEvidence, Phase};
use super::series::{self, Series, series};
use super::shape::{BySizes, Shape, by_sizes};

/// What an owner does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Class {
    /// It grows: a suspect.
    Grows,
    /// More is put into it than is taken out: a suspect.
    FallsBehind,
    /// It was filled once.
    FilledOnce,
    /// Its contents come and go.
    ComesAndGoes,
    /// It grew, and what did so before the last snapshot has ended.
    Ended,
    /// It belongs to one stage of a task.
    Stage,
    /// It is a weak table, and grows with the keys that others retain.
    FollowsKeys,
    /// There is too little evidence.
    Undecided,
}

impl Class {
    /// True if it is a suspect.
    #[must_use]
    pub const fn is_suspect(self) -> bool {
        matches!(self, Self::Grows | Self::FallsBehind)
    }
}

/// Evidence that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Exact sizes in snapshots.
    Snapshots,
    /// Numbers of threads.
    Threads,
    /// Sizes of blocks that replaced each other.
    Sizes,
    /// Birth dates of samples.
    Samples,
    /// Lifetimes of samples.
    Lifetimes,
}

impl Reason {
    /// True if samples decided, and not exact figures.
    #[must_use]
    pub const fn is_sampled(self) -> bool {
        matches!(self, Self::Samples | Self::Lifetimes)
    }
}

/// The judgement of an owner.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The owners that it is about.
    pub series: Series,
    /// What it does.
    pub class: Class,
    /// Evidence that decided.
    pub reason: Reason,
    /// Bytes by which it grew, or else its size.
    pub grown: f64,
    /// Part of the work since which it grows.
    pub since: f64,
    /// True if its size is worth "too little evidence".
    pub is_large: bool,
    /// Why it is undecided, if it is.
    pub unclear: Unclear,
    /// Part of the work at which it began to grow, as far as that is known.
    pub begun: f64,
    /// True if it was filled, and the program has worked on without allocating.
    pub works_with_it: bool,
}

/// Why an owner is undecided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unclear {
    /// Sizes and samples tell too little.
    #[default]
    Evidence,
    /// It is of the last phase, which may be a server's work or a stage of a task.
    LastPhase,
    /// The memory is unknown that the program had before the recording.
    Base,
}

/// Judges every large owner, the largest growth first.
#[must_use]
pub fn judge(evidence: &Evidence) -> Vec<Judged> {
    let heap = evidence.alive.last().copied().unwrap_or(0) as f64;
    let mut judged: Vec<Judged> = series(evidence)
        .into_iter()
        .filter(|one| one.sizes.last().is_some_and(|size| *size >= LEAST.max(SHARE * heap)))
        .map(|one| judge_one(evidence, one, heap))
        .collect();
    judged.sort_rows_by(|a, b| {
        let order = |one: &Judged| (!one.class.is_suspect(), one.class != Class::Undecided);
        order(a)
            .cmp(&order(b))
            .then(b.grown.total_cmp(&a.grown))
            .then(a.series.name.cmp(&b.series.name))
    });
    judged
}

/// The stage of a task that an owner belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// None: it grows with all of the work, or since the start of a server.
    None,
    /// The last one of a program that ended by itself: the owner may be the result of a task, or a leak of a server.
    Last,
    /// One of several.
    Of,
}

/// Tells the stage of a task that has grown since a moment. A single task of a compiler is a recording of stages, and each of
/// them grows. A server loads its data, and does the same work from then on until it is stopped.
fn stage(evidence: &Evidence, since: f64) -> Stage {
    match evidence.phase(since) {
        Phase::Same => Stage::None,
        Phase::Steady if evidence.is_stopped && since <= STOPPED => Stage::None,
        Phase::Steady if since <= ENDED => Stage::Last,
        Phase::Unclear if since <= STOPPED => Stage::Last,
        Phase::Steady | Phase::Unclear | Phase::Changing => Stage::Of,
    }
}

fn judge_one(evidence: &Evidence, series: Series, heap: f64) -> Judged {
    let owner = evidence_of_members(evidence, &series);
    let size = series.sizes.last().copied().unwrap_or(0.0);
    let found = Found::of(evidence, &owner, &series.sizes, heap);
    let is_large = size >= UNDECIDED_BYTES.max(UNDECIDED * heap);
    let Found { mut class, reason, shape, began } = found;
    let since = began.or(shape.map(|shape| shape.since)).filter(|_| class.is_suspect());
    let since = since.unwrap_or(0.0);
    if class.is_suspect() && evidence.end * COVER > 1.0 {
        class = match goes_on(evidence, &owner) {
            Some(false) => Class::Ended,
            None if evidence.end > 2.0 || reason.is_sampled() => Class::Undecided,
            Some(true) | None => class,
        };
    }
    let (mut unclear, begun) = (Unclear::Evidence, begun(&owner, shape, began));
    if class.is_suspect() || class == Class::Undecided {
        match stage(evidence, begun) {
            Stage::None => {}
            Stage::Last => (class, unclear) = (Class::Undecided, Unclear::LastPhase),
            Stage::Of => class = Class::Stage,
        }
    }
    if class.is_suspect() {
        class = if_new(evidence, &series, &owner, size).unwrap_or(class);
    }
    if (class.is_suspect() || class == Class::Undecided) && owner.follows_keys {
        class = Class::FollowsKeys;
    }
    let rise = Rise::of(evidence, &owner, &series.sizes);
    if class.is_suspect() && reason != Reason::Snapshots {
        class = rise.class(class, gained(&owner), size);
        if class == Class::Undecided {
            unclear = Unclear::Base;
        }
    }
    let works_on = evidence.worked_on.is_some_and(|worked_on| worked_on >= WORKED_ON);
    let works_with_it = class.is_suspect() && works_on;
    if works_with_it {
        class = Class::FilledOnce;
    } else if class.is_suspect() && evidence.is_start && heap < START_BYTES {
        class = Class::Undecided;
    }
    let grown = shape.filter(|_| class.is_suspect()).map_or(size, |shape| shape.grown.min(size));
    let grown = rise.bytes().map_or(grown, |rise| grown.min(rise.max(0.0)));
    Judged { series, class, reason, grown, since, is_large, unclear, begun, works_with_it }
}

/// Bytes by which an owner grew since the recording began. What samples show as new may have taken the place of what the
/// program had before.
#[derive(Clone, Copy)]
enum Rise {
    /// The recording began with the program: all is new.
    All,
    /// By snapshots.
    Exact(f64),
    /// At most, as resident memory grew by no more.
    AtMost(f64),
    Unknown,
}

impl Rise {
    fn of(evidence: &Evidence, owner: &OwnerEvidence, exact: &[f64]) -> Self {
        let has_base =
            !evidence.is_estimated && evidence.work.first().is_some_and(|at| *at <= BASE);
        match (exact, evidence.resident_grown) {
            _ if !evidence.is_attached => Self::All,
            ([first, .., last], _) if has_base => Self::Exact(last - first),
            // A collector's garbage makes resident memory grow, too.
            (_, Some(grown)) if evidence.is_estimated => Self::AtMost(grown.min(gained(owner))),
            _ => Self::Unknown,
        }
    }

    const fn bytes(self) -> Option<f64> {
        match self {
            Self::Exact(rise) | Self::AtMost(rise) => Some(rise),
            Self::All | Self::Unknown => None,
        }
    }

    /// The class of a suspect with so many bytes of new memory, of so many in all.
    fn class(self, class: Class, gained: f64, size: f64) -> Class {
        match self {
            Self::All => class,
            Self::Exact(rise) | Self::AtMost(rise) if rise >= gained / 2.0 => class,
            Self::Exact(rise) if rise <= (1.0 - RENEWED) * gained => Class::ComesAndGoes,
            // Hardly anything is from before.
            Self::Unknown if gained >= RENEWED * size => class,
            // The memory of blocks that were freed before may have been used again.
            Self::Exact(_) | Self::AtMost(_) | Self::Unknown => Class::Undecided,
        }
    }
}

/// Bytes of an owner that were allocated since the recording began, by its samples.
fn gained(owner: &OwnerEvidence) -> f64 {
    let dated: f64 = owner.dated().map(|(_, bytes)| bytes).sum();
    // Only some of the dates are kept.
    dated * (owner.live as f64 / owner.births.len().max(1) as f64).max(1.0)
}

/// The moment at which an owner began to grow.
///
/// Sizes tell it up to the distance between two of them. Its first block dates it more exactly, be that alive or not: all blocks of
/// a buffer but one were freed.
fn begun(owner: &OwnerEvidence, shape: Option<Shape>, began: Option<f64>) -> f64 {
    let first = owner.births.first().copied();
    let freed = owner.freed.iter().map(|life| life.born).fold(1.0, f64::min);
    match (shape.map(|shape| shape.since), first.map(|first| first.min(freed))) {
        (Some(since), Some(first)) if first >= since - NEAR => first,
        (Some(since), _) => since,
        (None, _) => began.or(first).unwrap_or(0.0),
    }
}

/// What samples tell of all members of a series.
fn evidence_of_members(evidence: &Evidence, series: &Series) -> OwnerEvidence {
    let named = evidence.owners.get(series.name);
    let mut all = OwnerEvidence {
        recursion: named.map_or(0.0, |owner| owner.recursion),
        follows_keys: named.is_some_and(|owner| owner.follows_keys),
        emptied_by_collector: named.is_some_and(|owner| owner.emptied_by_collector),
        ..OwnerEvidence::default()
    };
    let mut dated: Vec<(f64, f64)> = Vec::new();
    for owner in series.members.iter().filter_map(|place| evidence.owners.get(*place)) {
        all.live += owner.live;
        all.stayed += owner.stayed;
        dated.extend(owner.dated());
        all.freed.extend(&owner.freed);
        all.waiting += owner.waiting;
        all.threads.extend(&owner.threads);
        all.replaced.extend(&owner.replaced);
    }
    dated.sort_rows_by(|a, b| a.0.total_cmp(&b.0));
    (all.births, all.weights) = dated.into_iter().unzip();
    all
}

struct Found {
    class: Class,
    reason: Reason,
    shape: Option<Shape>,
    /// The moment at which it began, by samples.
    began: Option<f64>,
}

impl Found {
    fn of(evidence: &Evidence, owner: &OwnerEvidence, exact: &[f64], heap: f64) -> Self {
        let (by, shape) = if evidence.work.len() >= 2 {
            by_sizes(&evidence.work, exact, heap, evidence.is_attached)
        } else {
            (BySizes::Unknown, None)
        };
        let found = |class, reason, shape| Self { class, reason, shape, began: None };
        if by == BySizes::Grows && !evidence.is_sparse() && !is_by_chance(evidence, owner, shape) {
            let reason = match (evidence.is_estimated, owner.replaced.is_empty()) {
                (false, _) => Reason::Snapshots,
                (true, false) => Reason::Sizes,
                (true, true) => Reason::Samples,
            };
            return found(Class::Grows, reason, shape);
        }
        for (series, reason) in
            [(&owner.threads, Reason::Threads), (&owner.replaced, Reason::Sizes)]
        {
            let (work, sizes): (Vec<f64>, Vec<f64>) =
                series.iter().map(|(work, size)| (*work, *size as f64)).unzip();
            if let (BySizes::Grows, shape) = by_sizes(&work, &sizes, heap, evidence.is_attached)
                && has_held(evidence, exact, (&work, &sizes))
            {
                return found(Class::Grows, reason, shape);
            }
        }
        // The blocks of a buffer that doubles are sampled for sure, however few they are.
        if evidence.is_sparse() {
            return found(Class::Undecided, Reason::Samples, None);
        }
        if by == BySizes::Steady {
            // What was there from the middle on, and is there still, was filled once; of a cache with a bound only the size is.
            let is_full = shape.is_some_and(|shape| shape.late < LATE);
            let is_filled = is_full
                && match dates(evidence, owner, 0.0) {
                    Dates::Early => true,
                    Dates::Recent => false,
                    Dates::Spread | Dates::Few => was_filled_early(owner),
                };
            let class = match is_filled {
                _ if has_few(evidence, owner) => Class::Undecided,
                true => Class::FilledOnce,
                // A few large blocks, of which none was freed, neither come and go nor grow for sure.
                false if evidence.is_estimated && owner.freed.is_empty() => Class::Undecided,
                false => Class::ComesAndGoes,
            };
            return found(class, Reason::Snapshots, shape);
        }
        let is_event = |shape: Shape| shape.late < LATE / 2.0 || shape.lasted < LASTED;
        if by == BySizes::Unknown && shape.is_some_and(is_event) {
            let class =
                if was_filled_early(owner) { Class::FilledOnce } else { Class::ComesAndGoes };
            return found(class, Reason::Snapshots, shape);
        }
        let since = shape.filter(|_| by == BySizes::Maybe).map_or(0.0, |shape| shape.since);
        let since = if since > 0.25 { since } else { 0.0 };
        let size = exact.last().copied().unwrap_or(0.0);
        let dates = dates(evidence, owner, since);
        let began = match dates {
            Dates::Recent | Dates::Few => began_late(evidence, owner),
            Dates::Spread | Dates::Early => None,
        };
        let class = match dates {
            // A recursion that is deep for a moment has blocks from all of its work.
            Dates::Spread if owner.recursion > DEEP => Class::Undecided,
            Dates::Spread => match renewal(owner, size) {
                Renewal::Kept => Class::Grows,
                Renewal::Unclear => Class::Undecided,
                Renewal::Renewed => Class::ComesAndGoes,
            },
            Dates::Early if grew_since(evidence, owner, exact) || !is_early(owner, since) => {
                Class::Undecided
            }
            Dates::Early => Class::FilledOnce,
            Dates::Recent | Dates::Few if began.is_some() => Class::Grows,
            Dates::Recent
                if size >= QUEUE_BYTES && !owner.emptied_by_collector && falls_behind(owner) =>
            {
                Class::FallsBehind
            }
            Dates::Recent if by == BySizes::Unknown && is_renewed(owner, size) => {
                Class::ComesAndGoes
            }
            Dates::Recent | Dates::Few => Class::Undecided,
        };
        let reason = if class == Class::FallsBehind { Reason::Lifetimes } else { Reason::Samples };
        Self { class, reason, shape, began }
    }
}

/// The class of a root that is no variable and has nothing but what was just allocated. What it had in earlier snapshots is no
/// longer its own: a collection in the midst of `Array.append` finds the new array there each time. A buffer of a call's own
/// that has just doubled looks the same, so that it is not cleared.
fn if_new(evidence: &Evidence, series: &Series, owner: &OwnerEvidence, size: f64) -> Option<Class> {
    let is_variable = |place: &usize| {
        evidence.owners.get(*place).is_some_and(|owner| series::is_variable(&owner.kind))
    };
    if series.members.iter().any(is_variable) {
        return None;
    }
    let (is_new, class) = match (owner.births.first(), evidence.work.as_slice()) {
        (Some(first), [.., before, last]) if !evidence.is_estimated => {
            (*first >= before.max(last - NEWEST), Class::Undecided)
        }
        (Some(_), _) => return None,
        (None, _) => (is_too_new_for_samples(evidence, owner, size), Class::ComesAndGoes),
    };
    is_new.then_some(class)
}

/// True if memory has no samples, although others of that size have some.
fn is_too_new_for_samples(evidence: &Evidence, owner: &OwnerEvidence, size: f64) -> bool {
    let last = |owner: &OwnerEvidence| owner.sizes.last().copied().unwrap_or(0) as f64;
    let samples: u64 = evidence.owners.iter().map(|owner| owner.live).sum();
    let bytes: f64 = evidence.owners.iter().map(last).sum();
    let expected = samples as f64 * size / bytes.max(1.0);
    owner.live == 0 && expected >= UNSAMPLED
}

/// True unless samples show that part of it was allocated late.
fn was_filled_early(owner: &OwnerEvidence) -> bool {
    filled(owner).is_none_or(|late| late <= FILLED)
}

/// The date before which nine tenths of what is alive were allocated.
fn filled(owner: &OwnerEvidence) -> Option<f64> {
    let all: f64 = owner.dated().map(|(_, bytes)| bytes).sum();
    let mut seen = 0.0;
    let mut dated = owner.dated();
    let reached = dated.find(|(_, bytes)| {
        seen += bytes;
        seen >= 0.9 * all
    });
    reached.map(|(at, _)| at)
}

/// The date before which nine tenths of the live samples were allocated.
fn nine_tenths(owner: &OwnerEvidence) -> Option<f64> {
    owner.births.get(owner.births.len() * 9 / 10).copied()
}

/// True if estimated sizes may have risen by chance, as ten samples did from three. Most of what is alive is as young as what
/// was freed, and the rise is within what numbers of samples vary by.
fn is_by_chance(evidence: &Evidence, owner: &OwnerEvidence, shape: Option<Shape>) -> bool {
    let (Some(unit), Some(shape)) = (evidence.bytes_per_sample, shape) else { return false };
    let is_weak = shape.grown / unit < CERTAIN * (owner.live as f64).sqrt();
    evidence.is_estimated && owner.replaced.is_empty() && is_weak && turns_over(owner)
}

/// True if sizes are estimated from so few samples that growth would not show. A block that is sampled for sure is as good as
/// many.
fn has_few(evidence: &Evidence, owner: &OwnerEvidence) -> bool {
    let Some(unit) = evidence.bytes_per_sample.filter(|_| evidence.is_estimated) else {
        return false;
    };
    let is_unsure = owner.weights.iter().any(|bytes| *bytes < SURELY * unit);
    let lives = owner.live as usize;
    // The freed ones show that it is renewed, the early ones that it was filled.
    let is_known = owner.freed.len() >= lives || dates(evidence, owner, 0.0) == Dates::Early;
    lives < BLOCKS && is_unsure && !is_known
}

/// True if exact sizes contradict the dates of samples: it grew after a snapshot by which nearly all of its samples had been
/// allocated. Where the rate falls, few late samples stand for much.
fn grew_since(evidence: &Evidence, owner: &OwnerEvidence, exact: &[f64]) -> bool {
    let Some(filled) = nine_tenths(owner).filter(|_| !evidence.is_estimated) else { return false };
    let next = evidence.work.partition_point(|at| *at < filled);
    let (before, last) = (exact.get(next), exact.last());
    before.zip(last).is_some_and(|(before, last)| last - before > REST * last)
}

/// True unless exact sizes contradict sizes that are derived from samples. A variable that is in use for a moment has a
/// replaced block in one snapshot, and nothing in the others. Estimated sizes say nothing: the clock stands while `realloc`
/// replaces a block by the next one that is sampled, so the block seems never to have been there.
fn has_held(evidence: &Evidence, exact: &[f64], derived: (&[f64], &[f64])) -> bool {
    if evidence.is_estimated {
        return true;
    }
    let derived_at = |work: f64| {
        let next = derived.0.partition_point(|at| *at <= work);
        next.checked_sub(1).and_then(|place| derived.1.get(place)).copied().unwrap_or(0.0)
    };
    let pairs = evidence.work.iter().zip(exact).map(|(work, size)| (derived_at(*work), *size));
    let (mut asked, mut held) = (0, 0);
    for (derived, exact) in pairs.filter(|(derived, _)| *derived >= LEAST) {
        asked += 1;
        held += usize::from(exact >= derived / 2.0);
    }
    2 * held > asked || asked == 0
}
