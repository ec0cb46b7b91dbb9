//! What was found, in descriptions.

use memtrail_heap::Bytes;
use memtrail_heap::query::with_held;
use memtrail_profile::estimate::Estimate;
use memtrail_text::rounded::{bytes, grouped, percent, seconds};

use super::evidence::Evidence;
use super::growth::GrowthRate;
use super::owned::Owner;
use super::response::{CallerShare, ClearedOwner, LeaksResponse, NearestClosure, Place};
use super::rules::finding::Finding;
use super::teardown::Teardown;
use super::verdict::{BLOCKS, Class, FIRST, Judged, Unclear};
use crate::names::shown;
use crate::recording::Recording;

/// If a smaller part of the heap cannot be judged, that is not worth a sentence.
const MIN_UNJUDGED: f64 = 0.1;
/// From this part on, the rest is not worth a word.
pub(super) const NEARLY_ALL: f64 = 0.95;
/// In recordings that are shorter, rates are by the second.
const SHORT: f64 = 120.0;
/// Fewer snapshots decide nothing without samples.
const MIN_SNAPSHOTS: usize = 3;
/// Growth of shorter recordings has no rate: it is of one task or of the start.
const MIN_RATED: f64 = 2.0;
/// Callers of a place that are named at most.
const MAX_CALLERS: usize = 4;
/// Part of an owner that another one has from which on that is said.
const MERGED: f64 = 0.05;

/// What grows, and how large it is.
pub(super) struct Sized<'s> {
    /// The owner, or the call site.
    pub(super) name: &'s str,
    pub(super) class: Class,
    pub(super) size: Bytes,
    /// Of what, in words.
    pub(super) share: f64,
    pub(super) of: &'static str,
    /// Length of the recording in seconds.
    pub(super) whole: f64,
}

/// `Cache.table keeps growing: 93 MiB (71 % of the heap), +1.2 MiB/min, since 40 s after the start`; without a rate, if the
/// recording is too short for one.
pub(super) fn heading(it: &Sized<'_>, growth: &GrowthRate) -> String {
    let size = format!("{} ({} of {})", bytes(it.size.0 as f64), percent(it.share), it.of);
    let rate = if it.whole < MIN_RATED { String::new() } else { format!(", +{}", rate(growth)) };
    let since = match growth.since {
        since if since > 0.0 => format!(", since {} after the start", seconds(since)),
        _ => String::new(),
    };
    let does = match (it.class, growth.until) {
        (_, Some(_)) => "grew while the program worked",
        (Class::FallsBehind, None) => "fills faster than it is emptied",
        (_, None) => "keeps growing",
    };
    let until = growth.until.map(|until| {
        format!(", until the program began to wait at {}, and was kept since", seconds(until))
    });
    format!("{} {does}: {size}{rate}{since}{}", it.name, until.unwrap_or_default())
}

fn rate(growth: &GrowthRate) -> String {
    let Estimate { value, .. } = growth.rate;
    let span = growth.grown / value.max(f64::MIN_POSITIVE);
    if span < SHORT {
        format!("{}/s", bytes(value))
    } else {
        format!("{}/min", bytes(value * 60.0))
    }
}

/// Who allocated what a suspect owns.
pub(super) struct AllocatedBy<'s> {
    /// The place of the program's own, and its callers.
    pub(super) places: &'s [Place],
    /// Callers of that place, with their shares.
    pub(super) callers: &'s [CallerShare],
    /// What part of it was allocated there.
    pub(super) share: f64,
    /// Blocks that tell this.
    pub(super) sampled: usize,
    /// Closures of the program's own that are nearest to what a library allocated.
    pub(super) closure: Option<&'s NearestClosure>,
    /// The place did not allocate it: it runs the event loop that did.
    pub(super) runs_loop: bool,
}

/// `20,000 values of type Cache.page, allocated in Cache.remember (cache.ml:41), called by Server.handle (server.ml:88)`.
pub(super) fn allocated(evidence: &Evidence<'_>, by: &AllocatedBy<'_>) -> String {
    let what = evidence.values().map(|kind| {
        // What is recognised by its contents is marked so.
        let name = shown(kind.name.trim_start_matches("~ "));
        let count = grouped(kind.blocks);
        let values = match name.strip_prefix("closure ") {
            Some(function) => format!("{count} closures of {function}"),
            None if kind.is_type => format!("{count} values of type {name}"),
            None => match &kind.allocated {
                Some(by) => format!("{count} values of kind {name} (most {})", by.text()),
                None => format!("{count} values of kind {name}"),
            },
        };
        if evidence.retained_by_few(kind) { format!("what {values} retain") } else { values }
    });
    let Some((place, callers)) = by.places.split_first() else {
        let what = what.unwrap_or_else(|| "blocks".to_owned());
        return by.closure.map_or_else(
            || what.clone(),
            |NearestClosure { place, retains }| {
                let closures = if *retains {
                    format!("closures of {place} retain them")
                } else {
                    format!("a closure of {place} is among what is owned")
                };
                format!("{what}, allocated by a library from its event loop; {closures}")
            },
        );
    };
    let place = if by.runs_loop {
        format!("from the event loop that {place} runs")
    } else {
        format!("in {}", called_in_shares(place, callers, by.callers))
    };
    let is_all = by.share >= NEARLY_ALL;
    // One block or two are no part of the whole.
    let part = match (by.sampled, is_all) {
        (1, _) => Some("the one block that was sampled was".to_owned()),
        (2, true) => Some("both blocks that were sampled were".to_owned()),
        (2, false) => Some("one of two blocks that were sampled was".to_owned()),
        (_, true) => None,
        (_, false) => Some(format!("{} of the bytes were", percent(by.share))),
    };
    match (what, part) {
        (Some(what), None) => format!("{what}, allocated {place}"),
        (Some(what), Some(part)) => format!("{what}; {part} allocated {place}"),
        (None, None) => format!("allocated {place}"),
        (None, Some(part)) => format!("{part} allocated {place}"),
    }
}

/// `remember (server.c:41), called by serve (server.c:88)`.
fn called(place: &Place, callers: &[Place]) -> String {
    let callers: Vec<String> =
        callers.iter().map(|caller| format!(", called by {caller}")).collect();
    format!("{place}{}", callers.concat())
}

/// The same, with the shares of several callers: `create (a.ml:1), called by index (a.ml:3) 50 %, watch (a.ml:4) 30 %`.
fn called_in_shares(place: &Place, chain: &[Place], callers: &[CallerShare]) -> String {
    if callers.len() < 2 {
        return called(place, chain);
    }
    let named = callers.iter().take(MAX_CALLERS);
    let named: Vec<String> =
        named.map(|caller| format!("{} {}", caller.place, percent(caller.share))).collect();
    let left = match callers.len().saturating_sub(MAX_CALLERS) {
        0 => String::new(),
        left => format!(", … {left} more"),
    };
    format!("{place}, called by {}{left}", named.join(", "))
}

/// The same of a call site that a part was allocated in by way of these callers.
pub(super) fn allocated_at(
    places: &[Place],
    share: f64,
    freed: u64,
    teardown: Option<Teardown>,
) -> String {
    let fate = match (freed, teardown) {
        (0, None) => "never freed",
        (0, Some(_)) => "kept until the program ended",
        _ => "more is allocated than freed",
    };
    let Some((place, callers)) = places.split_first() else {
        return format!("allocated by unknown code; {fate}");
    };
    if share >= NEARLY_ALL || callers.is_empty() {
        return format!("allocated in {}; {fate}", called(place, callers));
    }
    let part = percent(share);
    format!("allocated in {place}; {fate}; {part} of it for {}", called(&callers[0], &callers[1..]))
}

/// The name of an owner, as headings have it.
pub(super) fn short_name(owner: &Owner<'_>) -> String {
    let name = shown(&with_held(&owner.name, owner.holds.as_deref()));
    match owner.kind {
        "global" | "static" => name,
        "stack" => format!("the stack of {name}"),
        "domain" => format!("local storage of {name}"),
        kind => format!("{kind} {name}"),
    }
}

/// A sentence on the owners that are one with it, as memory passes between them, where they have much of it now.
pub(super) fn merged(owner: &Owner<'_>) -> String {
    let least = owner.bytes() as f64 * MERGED;
    let largest = owner.merged.iter().max_by_key(|(_, size)| *size);
    let Some((name, size)) = largest.filter(|(_, size)| *size as f64 >= least) else {
        return String::new();
    };
    format!(
        "{} of it is owned by {} in the last snapshot: the two own the same memory in turn",
        bytes(*size as f64),
        shown(name)
    )
}

/// The same with its type and position.
pub(super) fn owner_name(owner: &Owner<'_>) -> String {
    let row = owner.rows.first();
    let ty = row.and_then(|row| row.r#type.as_deref()).map(|ty| format!(" : {ty}"));
    let position = row.and_then(|row| row.position.as_deref()).map(|at| format!(" ({at})"));
    let name = with_held(&owner.name, owner.holds.as_deref());
    let name = format!("{name}{}{}", ty.unwrap_or_default(), position.unwrap_or_default());
    match owner.kind {
        "global" | "static" => name,
        "stack" => format!("local variables of {name}"),
        "domain" => format!("local storage of {name}"),
        kind => format!("{kind}: {name}"),
    }
}

/// `owned by Cache.table : (string, page) Hashtbl.t (cache.ml:12): entries are added and never removed`.
pub(super) fn owned(owner: &Owner<'_>, finding: &Finding) -> String {
    format!("owned by {}: {}", shown(&owner_name(owner)), finding.clause)
}

/// What may look the same where a program has waited since.
const MAY_BE_FILLED: &str =
    "a program that fills its data and then waits looks the same: take a snapshot while it works";

/// What is measured.
pub(super) fn evidence(
    evidence: &Evidence<'_>,
    growth: &GrowthRate,
    recording: &Recording,
) -> String {
    let mut parts = measured(growth);
    parts.extend(fate(evidence.alive, evidence.freed, "cell"));
    let half = match growth.half {
        Some(exact) => Some(exact),
        None => allocation_times(evidence.owner, recording).map(|(_, half, _)| half),
    };
    parts.extend(half.map(half_later_than));
    parts.extend(growth.until.map(|_| MAY_BE_FILLED.to_owned()));
    parts.join("; ")
}

/// What is measured of a call site.
pub(super) fn evidence_of_site(
    growth: &GrowthRate,
    alive: u64,
    freed: u64,
    half: Option<f64>,
) -> String {
    if growth.from == "samples" && alive == 0 && freed > 0 {
        return "it grew with the work until the end, while its blocks were replaced".to_owned();
    }
    let mut parts = measured(growth);
    // A buffer is one block, and all blocks before it were freed.
    if growth.from != "sizes" {
        parts.extend(fate(alive, freed, "block"));
        parts.extend(half.map(half_later_than));
    }
    parts.join("; ")
}

fn half_later_than(moment: f64) -> String {
    format!("half of it was allocated after {}", seconds(moment))
}

/// By what growth was judged.
fn measured(growth: &GrowthRate) -> Vec<String> {
    vec![match growth.from {
        "snapshots" => "it grew with the work until the last snapshot".to_owned(),
        "threads" => "threads were started until the end, and hardly any has ended".to_owned(),
        "sizes" => {
            "each of its blocks was replaced by a larger one, until late in the run".to_owned()
        }
        "lifetimes" => "later blocks live longer, until the end".to_owned(),
        _ => "its live blocks date from the whole run".to_owned(),
    }]
}

/// States the fates of sampled cells or blocks that are older than the last tenth of the work.
fn fate(alive: u64, freed: u64, what: &str) -> Option<String> {
    let all = alive + freed;
    let number = grouped(all);
    match (all, freed) {
        (0, _) => None,
        (1, 0) => Some(format!("its one older sampled {what} was not freed")),
        (1, _) => Some(format!("its one older sampled {what} was freed")),
        (_, 0) => Some(format!("none of its {number} older sampled {what}s was freed")),
        (_, 1) => Some(format!("one of its {number} older sampled {what}s was freed")),
        _ => Some(format!("{} of its {number} older sampled {what}s were freed", grouped(freed))),
    }
}

/// Samples that date half of an owner: the median of 16 dates has a standard error of an eighth of the time.
pub(super) const DATED: usize = 16;

/// When a tenth, half, and nine tenths of what is alive had been allocated, if enough samples tell.
fn allocation_times(owner: &Owner<'_>, recording: &Recording) -> Option<(f64, f64, f64)> {
    if owner.live.len() < DATED {
        return None;
    }
    let profile = recording.profile();
    let mut tally = crate::heap::join::Tally::default();
    for one in &owner.live {
        tally.add(profile, *one);
    }
    let [first, half, last] = tally.finish(profile).allocated?;
    Some((first, half, last))
}

/// Why an owner is no suspect.
pub(super) fn reason(owner: &Owner<'_>, judged: &Judged, recording: &Recording) -> String {
    let class = judged.class;
    let filled = match class {
        Class::FilledOnce => allocation_times(owner, recording).map(|(_, _, last)| last),
        _ => None,
    };
    let reason = class_reason(judged, filled, owner.live.len());
    match owner.recursion() {
        (calls, part) if class == Class::Undecided && part > super::verdict::DEEP => {
            format!("{reason}; {calls} calls of a recursive function own it, until they return")
        }
        _ => reason,
    }
}

/// The sentence of a judgement, with when nine tenths had been allocated and the number of live samples.
pub(super) fn class_reason(judged: &Judged, filled: Option<f64>, sampled: usize) -> String {
    match judged.class {
        Class::FilledOnce if judged.works_with_it => {
            "filled once: the program then worked for longer than before, and allocated hardly anything".to_owned()
        }
        Class::FilledOnce => match filled {
            Some(at) => format!(
                "filled once: 90 % of it was allocated in the first {}, and is kept since",
                seconds(at)
            ),
            // Its contents may have been replaced: only sizes are known.
            None => "filled, and has not grown since".to_owned(),
        },
        Class::ComesAndGoes => "comes and goes: about as much is freed as is added".to_owned(),
        Class::Ended => {
            "grew, then stopped: later blocks from the same call sites were freed".to_owned()
        }
        Class::Stage if judged.begun < FIRST => {
            "belongs to the first stage of a task: other call sites allocated after it".to_owned()
        }
        Class::Stage => {
            "belongs to one stage of a task: other call sites allocated before it".to_owned()
        }
        Class::FollowsKeys => {
            "weak table: its entries live as long as their keys, which others retain, and it drops empty ones itself"
                .to_owned()
        }
        Class::Undecided if judged.unclear == Unclear::LastPhase => {
            "cannot be judged: it is of the last phase of the program, in which other call sites allocate than before; a leak \
             if that phase goes on, else the result of a task"
                .to_owned()
        }
        Class::Undecided if judged.unclear == Unclear::Base => {
            "cannot be judged: new blocks may have taken the place of what the process had before its recording began; \
             record longer, in OCaml with at least five snapshots"
                .to_owned()
        }
        Class::Undecided => too_few(sampled),
        Class::Grows | Class::FallsBehind => "grows".to_owned(),
    }
}

/// Why nothing is known of an owner with so many sampled blocks.
fn too_few(sampled: usize) -> String {
    if sampled < BLOCKS {
        format!("too little evidence: {}, and sizes that do not decide", live_samples(sampled))
    } else {
        format!(
            "cannot be judged: the sizes and the allocation times of {} fit neither a leak nor a cache",
            live_samples(sampled)
        )
    }
}

fn live_samples(count: usize) -> String {
    match count {
        0 => "no live samples".to_owned(),
        1 => "1 live sample".to_owned(),
        _ => format!("{} live samples", grouped(count as u64)),
    }
}

/// `1 snapshot`, `2,000 owners`.
fn counted(count: usize, one: &str) -> String {
    format!("{} {one}{}", grouped(count as u64), if count == 1 { "" } else { "s" })
}

/// `24 of 35 snapshots`.
fn snapshots_of(judged: usize, taken: Option<usize>) -> String {
    match taken {
        Some(taken) => format!("{judged} of {}", counted(taken, "snapshot")),
        None => counted(judged, "snapshot"),
    }
}

/// Lists the checks and their results.
pub(super) fn summary(response: &LeaksResponse) -> Vec<String> {
    let LeaksResponse { owners, alive, sampled, snapshots, .. } = response;
    let checked = format!(
        "checked {} ({}) over {}: {}, {}",
        counted(*owners, "owner"),
        bytes(alive.0 as f64),
        seconds(response.seconds),
        snapshots_of(*snapshots, response.snapshots_taken),
        live_samples(*sampled),
    );
    let unrecorded = response.unrecorded.iter().map(|unrecorded| unrecorded.description.clone());
    let damaged = response.damaged.iter().map(ToString::to_string);
    let mut summary: Vec<String> = unrecorded.chain([checked]).chain(damaged).collect();
    if response.suspects.is_empty() {
        let is_large = alive.0 as f64 >= super::verdict::LEAST;
        if is_large && *sampled == 0 && *snapshots < MIN_SNAPSHOTS {
            summary
                .push("growth cannot be judged: too few snapshots, and no live samples".to_owned());
        } else {
            let least = percent(super::verdict::SHARE);
            let is_undecided = |owner: &ClearedOwner| owner.class == Class::Undecided;
            let all = if response.cleared.iter().any(is_undecided) {
                "of the owners that can be judged, none"
            } else {
                "no owner"
            };
            summary.push(format!("{all} grew steadily by {least} of the heap or more"));
            summary.extend(without_owner(response));
            let known = response.unowned + response.after_last;
            let few = Bytes(response.unjudged.0.saturating_sub(known.0));
            let share = few.share_of(response.alive);
            if share >= MIN_UNJUDGED {
                summary.push(format!(
                    "{} of the heap cannot be judged: the reasons are with its owners; record longer, {}",
                    percent(share),
                    more_evidence(response)
                ));
            }
        }
    } else {
        summary.extend(without_owner(response));
        summary.extend(covers_little(response));
    }
    summary
}

/// Memory that no snapshot shows with an owner, a line each.
fn without_owner(response: &LeaksResponse) -> Vec<String> {
    let mut lines = Vec::new();
    if response.unowned > Bytes(0) {
        lines.push(format!(
            "{} cannot be judged: nothing refers to it in the last snapshot, and it was not freed; a function that has \
             returned had it, or it waits for a collection; take snapshots while the program works (--snapshot every-major)",
            bytes(response.unowned.0 as f64)
        ));
    }
    if response.after_last > Bytes(0) {
        lines.push(format!(
            "{} cannot be judged: it was allocated after the snapshot at {}, and was not freed up to the end of the \
             recording; take later ones (--snapshot auto, or memtrail snapshot PID)",
            bytes(response.after_last.0 as f64),
            seconds(response.seconds)
        ));
    }
    lines
}

/// The way to more evidence on several processes, if there is too little on one of them.
pub fn advice<'a>(all: impl Iterator<Item = &'a LeaksResponse>) -> Option<String> {
    let unjudged: Vec<_> = all.filter(|response| is_unjudged(response)).collect();
    let sampled = unjudged.iter().find(|response| response.evidence.bytes_per_sample.is_some());
    let evidence = more_evidence(sampled.or(unjudged.first())?);
    Some(format!("there is too little evidence on some: record longer, {evidence}"))
}

/// Snapshots that decide by themselves.
const ENOUGH: usize = 5;

/// More evidence for a verdict, besides a longer recording. A snapshot of a process that memtrail did not start, or of a program
/// whose runtime has no sampler, is without samples: no rate adds any.
fn more_evidence(response: &LeaksResponse) -> &'static str {
    // Call sites are judged by samples alone, and more snapshots than that add little.
    let has_enough = response.snapshots == 0 || response.snapshots >= ENOUGH;
    match response.evidence.bytes_per_sample {
        Some(_) if has_enough => "or with a higher --rate",
        Some(_) => "with a higher --rate, or with at least five snapshots",
        None => "with at least five snapshots",
    }
}

/// Sums up the checks of one process of several, in one line.
pub fn of_process(response: &LeaksResponse) -> String {
    let LeaksResponse { owners, alive, snapshots, .. } = response;
    let judged = if *snapshots == 0 { "call site" } else { "owner" };
    let share = percent(unjudged_share(response));
    let unjudged = is_share_unjudged(response).then(|| format!("; {share} of it cannot be judged"));
    let unjudged = unjudged.unwrap_or_default();
    let owners = counted(*owners, judged);
    // Call sites are judged without any.
    let snapshots = if *snapshots == 0 {
        String::new()
    } else {
        format!(", {}", counted(*snapshots, "snapshot"))
    };
    let unrecorded = response.unrecorded.as_ref();
    let unrecorded = unrecorded.map(|unrecorded| format!("; {}", unrecorded.description));
    let unrecorded = unrecorded.unwrap_or_default();
    format!("{} alive, {owners}{snapshots}{unjudged}{unrecorded}", bytes(alive.0 as f64))
}

/// Part of what is alive, or was until the end, that cannot be judged.
pub(super) fn unjudged_share(response: &LeaksResponse) -> f64 {
    response.unjudged.share_of(response.alive + response.unowned + response.after_last)
}

/// True if too much of what is alive cannot be judged.
pub(super) fn is_share_unjudged(response: &LeaksResponse) -> bool {
    unjudged_share(response) >= MIN_UNJUDGED
}

/// True if there is no verdict for lack of samples: on too much of what is alive, or on anything.
pub(super) fn is_unjudged(response: &LeaksResponse) -> bool {
    is_share_unjudged(response) || response.evidence.is_sparse()
}

/// Of a recording of OCaml's heap and of `malloc`, without snapshots.
pub(super) const OCAML_HEAP_NOT_JUDGED: &str = "only memory from malloc was judged: what grows in OCaml's heap needs heap snapshots (memtrail run \
     --snapshot every-major)";

/// Lists the checks of call sites in a recording without snapshots, and their results.
pub(super) fn summary_of_sites(response: &LeaksResponse) -> Vec<String> {
    let LeaksResponse { owners, alive, sampled, .. } = response;
    let unrecorded = response.unrecorded.iter().map(|unrecorded| unrecorded.description.clone());
    let mut summary: Vec<String> = unrecorded.collect();
    summary.push(format!(
        "checked {} over {}: {} not freed, {}",
        counted(*owners, "call site"),
        seconds(response.seconds),
        bytes(alive.0 as f64),
        live_samples(*sampled),
    ));
    if response.suspects.is_empty() {
        let least = percent(super::verdict::SHARE);
        summary.push(format!("no call site grew steadily by {least} of that or more"));
        let share = unjudged_share(response);
        if is_share_unjudged(response) {
            summary.push(format!(
                "{} of it cannot be judged: the reasons are with its call sites; record longer, or with a higher --rate",
                percent(share)
            ));
        }
    } else {
        summary.extend(covers_little(response));
    }
    summary
}

/// A sentence on a recording that is short.
pub(super) fn covers_little(response: &LeaksResponse) -> Option<String> {
    (response.seconds < SHORT).then(|| {
        format!(
            "only the first {} were judged: the start of a program, and a single task, look like growth; record longer to be sure",
            seconds(response.seconds)
        )
    })
}
