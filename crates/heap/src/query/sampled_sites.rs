//! Blocks whose type is not known, named by the calls that allocated the sampled ones in the same place of the graph.
//!
//! Blocks without a type have a kind: a tag and a size. A place is a set of such blocks of one kind. There are three,
//! each part of the next:
//! 1. the blocks of a kind that have the same owner, and are dominated by blocks of the same kind;
//! 2. those that have the same owner;
//! 3. all of the kind.
//!
//! The sampled blocks of a place tell who allocated the others: by call site, by function and by module. One of these
//! is the place's name if it allocated most of the place's blocks, and that is no chance: by the sign test, at a
//! probability of 97.5 %. 6 of 6 sampled blocks are enough, as are 9 of 10, 29 of 43 and 61 of 100. A block gets the
//! name of the first of its places that has one, unless the sampled blocks of a place before it were mostly allocated
//! elsewhere. Where a call site is not frequent enough the function is tried, then the module.

use std::cmp::Reverse;

use hashbrown::HashMap;
use memtrail_order::SortRows as _;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

use super::catalogue::{Catalogue, KindId};
use super::heap::Heap;
use crate::graph::{Node, OwnersOfBlocks, RootNodeId};
use crate::units::{BlockIndex, Bytes, Words};

/// What allocated a block, in three precisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocator {
    /// Numbers of the call site, its function and its module, which mean something to the caller alone; none where
    /// that is not known.
    pub numbers: [Option<u32>; PRECISIONS],
}

/// How precise a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Precision {
    /// A call site.
    Site,
    /// A function.
    Function,
    /// A module.
    Module,
}

/// How many precisions there are.
pub const PRECISIONS: usize = 3;
const ALL: [Precision; PRECISIONS] = [Precision::Site, Precision::Function, Precision::Module];
/// How many places a block is in.
const PLACES: usize = 3;
/// The square of 1.96, in hundredths: what a difference must exceed to be no chance, at 97.5 %.
const QUANTILE_SQUARED: u64 = 384;
/// What dominates blocks that no block dominates.
const NO_DOMINATOR: u32 = u32::MAX;

/// What allocated most blocks of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceName {
    /// How precise it is.
    pub precision: Precision,
    /// The number of the call site, function or module.
    pub number: u32,
    /// How many sampled blocks of the place it allocated.
    pub samples: u64,
    /// How many blocks of the place were sampled.
    pub of: u64,
}

/// The blocks of a kind that have one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedPart {
    /// Their kind.
    pub kind: KindId,
    /// What allocated them. Samples are those of these blocks alone.
    pub name: PlaceName,
    /// How many blocks.
    pub blocks: u64,
    /// Their own size, headers counted.
    pub bytes: Bytes,
}

/// The most precise place of a block: its kind, its owner, the kind of what dominates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Place {
    kind: KindId,
    owner: Option<RootNodeId>,
    dominator: u32,
}

/// Instead of the dominator's kind: any.
const ANY: u32 = u32::MAX - 1;

impl Place {
    fn of(heap: &Heap<'_>, catalogue: &Catalogue, owner: RootNodeId, block: BlockIndex) -> Self {
        let dominator = match heap.graph.dominator(Node::Block(block)) {
            Some(Node::Block(dominator)) => u32::from(catalogue.kind(dominator).0),
            _ => NO_DOMINATOR,
        };
        Self { kind: catalogue.kind(block), owner: Some(owner), dominator }
    }

    /// The place and those that it is part of.
    const fn all(self) -> [Self; PLACES] {
        [self, Self { dominator: ANY, ..self }, Self { owner: None, dominator: ANY, ..self }]
    }
}

/// How many blocks without a type are in each place, and how large they are.
#[derive(Debug, Default)]
pub struct UntypedPlaces {
    places: Vec<(Place, u64, Words)>,
}

impl UntypedPlaces {
    /// Counts the blocks that are reachable.
    pub fn new(heap: &Heap<'_>, catalogue: &Catalogue) -> Self {
        let owners = heap.graph.owners_of_blocks(heap.threads);
        let mut sums: HashMap<Place, (u64, Words), FxBuildHasher> = HashMap::default();
        for block in (0..catalogue.len() as u32).map(BlockIndex) {
            if let Some(place) = untyped(heap, catalogue, &owners, block) {
                let sum = sums.entry(place).or_default();
                sum.0 += 1;
                sum.1.0 += catalogue.size(block).0;
            }
        }
        let mut places: Vec<_> =
            sums.into_iter().map(|(place, (blocks, words))| (place, blocks, words)).collect();
        places.sort_rows_by_key(|(place, ..)| *place);
        Self { places }
    }
}

/// The place of a block that is reachable and has no type.
fn untyped(
    heap: &Heap<'_>,
    catalogue: &Catalogue,
    owners: &OwnersOfBlocks<'_>,
    block: BlockIndex,
) -> Option<Place> {
    if !catalogue.is_untyped(catalogue.kind(block)) {
        return None;
    }
    Some(Place::of(heap, catalogue, owners.get(block)?, block))
}

/// What the sampled blocks of a place were allocated by.
#[derive(Debug, Default)]
struct Sampled {
    of: u64,
    /// For each precision the most frequent number, and how often.
    most: [Option<(u32, u64)>; PRECISIONS],
}

impl Sampled {
    fn name(&self) -> Option<PlaceName> {
        ALL.into_iter().zip(self.most).find_map(|(precision, most)| {
            let (number, samples) = most.filter(|(_, samples)| are_most(*samples, self.of))?;
            Some(PlaceName { precision, number, samples, of: self.of })
        })
    }

    /// Whether its own samples are mostly those of another name.
    fn is_against(&self, name: &PlaceName) -> bool {
        self.most[name.precision as usize].is_some_and(|(number, _)| number != name.number)
    }
}

/// Whether more than half of all blocks are like these of the sampled ones, and that is no chance.
fn are_most(some: u64, of: u64) -> bool {
    // Half a block less, as counts are whole numbers and the normal distribution is not.
    let more = (2 * some).saturating_sub(of + 1);
    more > 0 && more * more * 100 >= QUANTILE_SQUARED * of
}

/// Names of blocks without a type, by those that were sampled.
#[derive(Debug, Default)]
pub struct SampledSites {
    places: HashMap<Place, Sampled, FxBuildHasher>,
    /// The most precise places of sampled blocks, with what allocated these.
    samples: Vec<(Place, Allocator)>,
}

impl SampledSites {
    /// Counts sampled blocks. Those that are dead or have a type are passed over.
    pub fn new(
        heap: &Heap<'_>,
        catalogue: &Catalogue,
        blocks: impl IntoIterator<Item = (BlockIndex, Allocator)>,
    ) -> Self {
        let mut owners = heap.graph.owners_one_by_one();
        let known = blocks.into_iter().filter_map(|(block, allocator)| {
            let is_untyped = catalogue.is_untyped(catalogue.kind(block));
            let owner = is_untyped.then(|| owners.get(block)).flatten()?;
            Some((Place::of(heap, catalogue, owner, block), allocator))
        });
        Self::of_samples(known.collect())
    }

    fn of_samples(samples: Vec<(Place, Allocator)>) -> Self {
        let mut places: HashMap<Place, Sampled, FxBuildHasher> = HashMap::default();
        let mut counts: HashMap<(Place, usize, u32), u64, FxBuildHasher> = HashMap::default();
        for (place, allocator) in &samples {
            for place in place.all() {
                places.entry(place).or_default().of += 1;
                for (precision, number) in allocator.numbers.iter().enumerate() {
                    if let Some(number) = number {
                        *counts.entry((place, precision, *number)).or_default() += 1;
                    }
                }
            }
        }
        for ((place, precision, number), count) in counts {
            let most = &mut places.entry(place).or_default().most[precision];
            let order = |(number, count): (u32, u64)| (count, Reverse(number));
            if most.is_none_or(|most| order((number, count)) > order(most)) {
                *most = Some((number, count));
            }
        }
        Self { places, samples }
    }

    /// Whether no block without a type was sampled.
    pub const fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    fn name(&self, place: Place) -> Option<PlaceName> {
        let places = place.all().map(|place| self.places.get(&place));
        let names = places.iter().map(|sampled| sampled.and_then(Sampled::name));
        let (number, name) = names.enumerate().find_map(|(number, name)| Some((number, name?)))?;
        let mut before = places[..number].iter().flatten();
        before.all(|sampled| !sampled.is_against(&name)).then_some(name)
    }

    /// What allocated most blocks that are where this one is; none if it has a type, or that is not known.
    pub fn of_block(
        &self,
        heap: &Heap<'_>,
        catalogue: &Catalogue,
        block: BlockIndex,
    ) -> Option<PlaceName> {
        if self.is_empty() || !catalogue.is_untyped(catalogue.kind(block)) {
            return None;
        }
        self.name(Place::of(heap, catalogue, heap.graph.owner(block)?, block))
    }

    /// The blocks without a type, by kind and name, the largest part of each kind first; of these owners alone if
    /// some are given.
    pub fn parts(&self, untyped: &UntypedPlaces, owners: Option<&[RootNodeId]>) -> Vec<NamedPart> {
        let is_wanted = |place: &Place| {
            owners.is_none_or(|owners| place.owner.is_some_and(|owner| owners.contains(&owner)))
        };
        let mut known: HashMap<(KindId, Precision, u32), usize, FxBuildHasher> = HashMap::default();
        let mut parts: Vec<NamedPart> = Vec::new();
        let mut names: HashMap<Place, (usize, PlaceName), FxBuildHasher> = HashMap::default();
        for (place, blocks, words) in untyped.places.iter().filter(|(place, ..)| is_wanted(place)) {
            let Some(name) = self.name(*place) else { continue };
            let number =
                *known.entry((place.kind, name.precision, name.number)).or_insert_with(|| {
                    let name = PlaceName { samples: 0, of: 0, ..name };
                    parts.push(NamedPart { kind: place.kind, name, blocks: 0, bytes: Bytes(0) });
                    parts.len() - 1
                });
            parts[number].blocks += blocks;
            parts[number].bytes += words.bytes();
            names.insert(*place, (number, name));
        }
        for (place, allocator) in &self.samples {
            if let Some((number, name)) = names.get(place) {
                let part = &mut parts[*number].name;
                part.of += 1;
                let is_same = allocator.numbers[name.precision as usize] == Some(name.number);
                part.samples += u64::from(is_same);
            }
        }
        // Blocks in places without samples of their own alone have the samples of the whole.
        parts.retain(|part| part.name.of > 0);
        parts.sort_rows_by_key(|part| {
            (part.kind, Reverse(part.bytes), part.name.precision, part.name.number)
        });
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn place(kind: u16, owner: u32, dominator: u32) -> Place {
        Place { kind: KindId(kind), owner: Some(RootNodeId(owner)), dominator }
    }

    /// A sample of a place, by a site, its function and its module: a hundred sites a function, ten functions a module.
    fn sample(place: Place, site: u32) -> (Place, Allocator) {
        let numbers = [Some(site), Some(10_000 + site / 100), Some(20_000 + site / 1000)];
        (place, Allocator { numbers })
    }

    fn name(sites: &SampledSites, place: Place) -> Option<(u32, u64, u64)> {
        let name = sites.name(place)?;
        Some((name.number, name.samples, name.of))
    }

    #[test]
    fn most_is_what_chance_does_not_explain() {
        let least = |of| (0..=of).find(|some| are_most(*some, of));
        let all = [0, 1, 5, 6, 7, 8, 9, 10, 20, 43, 100].map(least);
        assert_eq!(all[..3], [None; 3]);
        assert_eq!(all[3..], [6, 7, 8, 8, 9, 15, 29, 61].map(Some));
        // The exact probability of as many or more, if half of all blocks were so.
        for of in 6..200u64 {
            let some = least(of).unwrap();
            assert!(tail(of, some) < 0.027, "{some} of {of}: {}", tail(of, some));
            assert!(tail(of, some - 1) > 0.02, "{some} of {of}: {}", tail(of, some - 1));
        }
    }

    /// The probability of so many or more.
    fn tail(of: u64, some: u64) -> f64 {
        let mut row = vec![1.0];
        for _ in 0..of {
            let mut next = vec![0.0; row.len() + 1];
            for (count, probability) in row.iter().enumerate() {
                next[count] += probability / 2.0;
                next[count + 1] += probability / 2.0;
            }
            row = next;
        }
        row[some as usize..].iter().sum()
    }

    #[test]
    fn the_first_place_that_has_a_name_gives_it() {
        let (here, there) = (place(1, 1, 5), place(1, 1, 6));
        let mut samples = vec![sample(here, 7); 6];
        samples.extend(vec![sample(there, 8); 40]);
        let sites = SampledSites::of_samples(samples);
        assert_eq!(name(&sites, here), Some((7, 6, 6)));
        assert_eq!(name(&sites, there), Some((8, 40, 40)));
        assert_eq!(name(&sites, place(1, 1, 9)), Some((8, 40, 46)), "the owner's");
        assert_eq!(name(&sites, place(1, 2, 5)), Some((8, 40, 46)), "the kind's");
        assert_eq!(name(&sites, place(2, 1, 5)), None, "another kind");
    }

    #[test]
    fn few_samples_that_differ_keep_the_name_of_others_away() {
        let (here, there) = (place(1, 1, 5), place(1, 1, 6));
        let mut samples = vec![sample(here, 7); 5];
        samples.extend(vec![sample(there, 8); 40]);
        let sites = SampledSites::of_samples(samples);
        assert_eq!(name(&sites, here), None);
        let agrees = [vec![sample(here, 8); 5], vec![sample(there, 8); 40]].concat();
        let sites = SampledSites::of_samples(agrees);
        assert_eq!(name(&sites, here), Some((8, 45, 45)));
    }

    #[test]
    fn functions_and_modules_where_sites_differ() {
        let of = |sites: [u32; 10]| {
            let sites = sites.map(|site| sample(place(1, 1, 5), site));
            let name = SampledSites::of_samples(sites.to_vec()).name(place(1, 1, 5));
            name.map(|name| (name.precision, name.number))
        };
        assert_eq!(of([1, 1, 1, 1, 1, 1, 1, 1, 1, 2]), Some((Precision::Site, 1)));
        assert_eq!(of([1, 1, 1, 1, 1, 1, 2, 2, 2, 2]), Some((Precision::Function, 10_000)));
        assert_eq!(of([1, 1, 1, 1, 1, 1, 1, 1, 102, 202]), Some((Precision::Module, 20_000)));
        assert_eq!(of([1, 1, 1, 1, 1, 1, 1, 1, 1002, 2002]), None);
    }

    #[test]
    fn parts_count_all_blocks_and_the_samples_among_them() {
        let (here, there, elsewhere) = (place(1, 1, 5), place(1, 1, 6), place(1, 2, 6));
        let mut samples = [vec![sample(here, 7); 9], vec![sample(there, 8); 9]].concat();
        samples.push(sample(here, 9));
        let sites = SampledSites::of_samples(samples);
        let untyped = UntypedPlaces {
            places: vec![
                (here, 100, Words(300)),
                (there, 50, Words(150)),
                (elsewhere, 9, Words(27)),
            ],
        };
        let part = |number, samples, of, blocks, words: u64| NamedPart {
            kind: KindId(1),
            name: PlaceName { precision: Precision::Site, number, samples, of },
            blocks,
            bytes: Words(words).bytes(),
        };
        assert_eq!(sites.parts(&untyped, None), [part(7, 9, 10, 100, 300), part(8, 9, 9, 50, 150)]);
        assert_eq!(sites.parts(&untyped, Some(&[RootNodeId(2)])), []);
    }

    /// The rule once more, without counts that are kept.
    fn slowly(samples: &[(Place, Allocator)], place: Place) -> Option<(u32, u64, u64)> {
        let mut leaders: Vec<Vec<Option<u32>>> = Vec::new();
        for at in place.all() {
            let there = samples.iter().filter(|(other, _)| other.all().contains(&at));
            let there: Vec<&Allocator> = there.map(|(_, allocator)| allocator).collect();
            let mut of_precisions = Vec::new();
            let mut found = None;
            for precision in 0..PRECISIONS {
                let mut numbers: Vec<u32> =
                    there.iter().filter_map(|allocator| allocator.numbers[precision]).collect();
                numbers.sort_unstable();
                let runs = numbers.chunk_by(|a, b| a == b);
                let most = runs.max_by_key(|run| (run.len(), Reverse(run[0])));
                of_precisions.push(most.map(|run| run[0]));
                if let Some(run) = most
                    && found.is_none()
                    && are_most(run.len() as u64, there.len() as u64)
                {
                    found = Some((precision, (run[0], run.len() as u64, there.len() as u64)));
                }
            }
            if let Some((precision, name)) = found {
                let agrees = |leaders: &Vec<Option<u32>>| {
                    leaders[precision].is_none_or(|number| number == name.0)
                };
                return leaders.iter().all(agrees).then_some(name);
            }
            if !there.is_empty() {
                leaders.push(of_precisions);
            }
        }
        None
    }

    #[test]
    fn names_are_those_of_the_rule() {
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let mut named = 0;
        for _ in 0..200 {
            let count = random(40);
            let samples: Vec<(Place, Allocator)> = (0..count)
                .map(|_| {
                    let place = place(random(2) as u16, random(2) as u32, random(3) as u32);
                    let site = random(3) * random(2) * 40 + random(2);
                    let mut sample = sample(place, site as u32);
                    if random(10) == 0 {
                        sample.1.numbers = [None; PRECISIONS];
                    }
                    sample
                })
                .collect();
            let sites = SampledSites::of_samples(samples.clone());
            for kind in 0..2 {
                for owner in 0..3 {
                    for dominator in 0..3 {
                        let place = place(kind, owner, dominator);
                        let found = name(&sites, place);
                        named += usize::from(found.is_some());
                        assert_eq!(found, slowly(&samples, place));
                    }
                }
            }
        }
        assert!(named > 300, "{named}");
    }
}
