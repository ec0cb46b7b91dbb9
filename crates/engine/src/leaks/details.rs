//! What is known of a suspect, put together.

use std::cmp::Reverse;
use std::collections::HashMap;

use memtrail_heap::Bytes;
use memtrail_heap::graph::Node;
use memtrail_order::SortRows as _;
use memtrail_trace::StackId;

use super::callers::callers;
use super::cells::{Cells, is_of_container};
use super::contents::Contents;
use super::evidence::Evidence;
use super::growth::GrowthRate;
use super::own_code::OwnCode;
use super::owned::Owner;
use super::response::{Place, Suspect};
use super::verdict::Class;
use super::{closures, descriptions, rules};
use crate::heap::join::Live;
use crate::heap::loaded::LoadedSnapshot;
use crate::heap::node;
use crate::names::shown;
use crate::recording::Recording;

pub(super) fn look_into<'e>(
    owner: &'e Owner<'e>,
    contents: &'e Contents,
    recording: &Recording,
    own: &OwnCode<'_>,
    loaded: &LoadedSnapshot,
) -> Evidence<'e> {
    let Cells { added_at, alive, freed } = Cells::of(owner, contents, recording, own, loaded);
    Evidence { owner, contents, added_at, alive, freed }
}

pub(super) fn suspect(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    own: &OwnCode<'_>,
    evidence: &Evidence<'_>,
    class: Class,
    growth: GrowthRate,
    (alive, end): (Bytes, f64),
) -> Suspect {
    let owner = evidence.owner;
    let samples = Samples::of(evidence, recording, own, loaded);
    let own_places = places_by_share(owner, &samples, |one| own.own_places(one));
    let (mut allocated, mut allocated_share) = own_places.first().cloned().unwrap_or_default();
    let (mut closure, mut runs_loop) = (None, false);
    if allocated.is_empty() {
        closure = closures::nearest(owner, evidence.contents, own, loaded, recording);
        if closure.is_none() {
            (allocated, allocated_share) = largest_named(&own_places).unwrap_or_else(|| {
                runs_loop = true;
                let beyond = places_by_share(owner, &samples, |one| own.places_beyond_loop(one));
                beyond.into_iter().next().unwrap_or_default()
            });
        }
    }
    let callers = match allocated.first() {
        Some(place) if !runs_loop => callers(owner, place, recording, own),
        _ => Vec::new(),
    };
    let by = descriptions::AllocatedBy {
        places: &allocated,
        callers: &callers,
        share: allocated_share,
        sampled: samples.counted(&owner.live).count(),
        closure: closure.as_ref(),
        runs_loop,
    };
    let finding = rules::describe(evidence);
    let row = evidence.row();
    let share = Bytes(owner.bytes()).share_of(alive);
    let it = descriptions::Sized {
        name: &descriptions::short_name(owner),
        class,
        size: Bytes(owner.bytes()),
        share,
        of: "the heap",
        whole: end,
    };
    let heading = descriptions::heading(&it, &growth);
    let descriptions = vec![
        descriptions::allocated(evidence, &by),
        descriptions::owned(owner, &finding),
        descriptions::merged(owner),
    ];
    // What runs the loop has to do with everything.
    let next = allocated.first().filter(|_| !runs_loop).map(|place| place.function.clone());
    Suspect {
        rule: finding.rule,
        class,
        heading,
        descriptions: descriptions
            .into_iter()
            .filter(|description| !description.is_empty())
            .collect(),
        evidence: descriptions::evidence(evidence, &growth, recording),
        retained_by: Vec::new(),
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
        callers,
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

/// The samples that say where something was allocated. Of a container those of its cells say where entries are added,
/// which is another question: a table of strings was "allocated" by the caller of `Hashtbl.replace`. So they are counted
/// only where hardly anything else was sampled.
struct Samples<'s> {
    recording: &'s Recording,
    /// Recognises cells, if they are not counted.
    without_cells: Option<(&'s Contents, &'s OwnCode<'s>, &'s LoadedSnapshot)>,
}

impl<'s> Samples<'s> {
    fn of(
        evidence: &Evidence<'s>,
        recording: &'s Recording,
        own: &'s OwnCode<'s>,
        loaded: &'s LoadedSnapshot,
    ) -> Self {
        let all = Self { recording, without_cells: None };
        let others = Self { recording, without_cells: Some((evidence.contents, own, loaded)) };
        let live = &evidence.owner.live;
        let is_enough = others.count(live) as f64 >= all.count(live) as f64 * MIN_NAMED;
        if is_enough { others } else { all }
    }

    fn counted<'l>(&self, lives: &'l [Live]) -> impl Iterator<Item = &'l Live> {
        lives.iter().filter(|one| {
            self.without_cells.is_none_or(|(contents, own, loaded)| {
                // Within `Hashtbl.resize` the cells are in no table that could be recognised.
                !own.is_by_container(**one) && !is_of_container(contents, loaded, **one)
            })
        })
    }

    /// A block of each callstack and the samples of all of them, the most first.
    fn by_stack(&self, lives: &[Live]) -> Vec<(Live, u64)> {
        let blocks = &self.recording.profile().blocks;
        let mut sums: HashMap<StackId, (Live, u64)> = HashMap::new();
        for one in self.counted(lives) {
            let (_, sum) = sums.entry(blocks.stack(one.row)).or_insert((*one, 0));
            *sum += blocks.samples(one.row);
        }
        let mut sums: Vec<(Live, u64)> = sums.into_values().collect();
        sums.sort_rows_by_key(|(one, sum)| (Reverse(*sum), one.row));
        sums
    }

    fn count(&self, lives: &[Live]) -> u64 {
        let blocks = &self.recording.profile().blocks;
        self.counted(lives).map(|one| blocks.samples(one.row)).sum()
    }
}

/// The places of the program's own that allocated what an owner owns, with their callers; that of the largest part
/// first. A place counts also if it allocated more for another owner.
fn places_by_share(
    owner: &Owner<'_>,
    samples: &Samples<'_>,
    own_places: impl Fn(Live) -> Vec<Place>,
) -> Vec<PlaceShare> {
    let mut sums: Vec<(Vec<Place>, u64)> = Vec::new();
    for (one, of_stack) in samples.by_stack(&owner.live) {
        let places = own_places(one);
        match sums.iter_mut().find(|(known, _)| known.first() == places.first()) {
            Some((_, sum)) => *sum += of_stack,
            None => sums.push((places, of_stack)),
        }
    }
    sums.sort_rows_by_key(|(_, sum)| Reverse(*sum));
    let all = samples.count(&owner.live).max(1) as f64;
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
