//! Where most is allocated, and on whose behalf.
//!
//! A hot spot is a function that allocates more than 0.5 % of all samples. A caller of it matters
//! when much of what is allocated on the caller's behalf, anywhere below it, is allocated there:
//! more than a tenth, and more than the function's share of the whole program explains. These are
//! memtrace's rules; its counts are estimates, ours are exact, and a stack on which a function
//! occurs several times counts once for it.
//!
//! One pass over the tree of backtraces, carrying up what each subtree allocates by function.

use std::cmp::Reverse;

use memtrail_order::SortRows as _;
use memtrail_trace::{Code, FileId, FunctionId, Site, StackId, Tables};
use rustc_hash::FxHashMap;

use crate::depth_first::{Visit, walk};
use crate::samples::StackSamples;

/// Share of all samples below which nothing is reported.
const THRESHOLD: f64 = 0.005;
/// Least share of a caller's samples.
const CALLER_SHARE: f64 = 0.10;
/// How many times its share in the whole program a hot spot must have at a caller.
const CALLER_EXCESS: f64 = 1.2;
/// Frames without debug information that are looked through for one with it.
const LOOK_THROUGH: usize = 2;

/// A function of a file; a frame that nothing is known of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A function, and the file that it is in: names alone are not unique.
    Function(FunctionId, FileId),
    /// No debug information here, nor at the two callers.
    Unknown(Code),
    /// The backtrace was empty.
    NoBacktrace,
}

/// A function that allocates much.
#[derive(Clone, Debug)]
pub struct Hotspot {
    /// The function.
    pub place: Place,
    /// Samples allocated in it.
    pub samples: u64,
    /// Where in it, and how many samples each; most first.
    pub positions: Vec<(Position, u64)>,
    /// Callers that matter, most samples first.
    pub callers: Vec<Caller>,
}

/// A source position within a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// First column, from 0.
    pub start_col: u16,
    /// Column after the last.
    pub end_col: u16,
}

/// A function on whose behalf a hot spot allocates.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// The function.
    pub place: Place,
    /// Samples that the hot spot allocated below it.
    pub samples: u64,
    /// Samples allocated in it or below it, anywhere.
    pub total: u64,
}

/// The hot spots, most samples first.
pub fn hotspots(samples: &StackSamples, tables: &Tables) -> Vec<Hotspot> {
    let places = Places::new(tables);
    let mut direct = vec![0_u64; places.list.len()];
    let mut positions: FxHashMap<(u32, Position), u64> = FxHashMap::default();
    for node in (0..tables.stacks.len() as u32).map(StackId) {
        let count = samples.of(node);
        if count > 0 {
            let place = places.of(node);
            direct[place as usize] += count;
            let position = site(tables, node).map_or_else(Position::nowhere, Position::of);
            *positions.entry((place, position)).or_default() += count;
        }
    }
    let share = |count: u64| count as f64 / samples.total as f64;
    let hot: Vec<bool> = direct.iter().map(|&count| share(count) > THRESHOLD).collect();

    let mut counting = Counting {
        samples,
        places: &places,
        hot: &hot,
        on_path: vec![0; places.list.len()],
        totals: vec![0; places.list.len()],
        pairs: FxHashMap::default(),
        path: vec![Subtree::default()],
    };
    counting.totals[0] = samples.of(StackId::ROOT);
    walk(&tables.stacks, &mut counting);
    let Counting { totals, pairs, .. } = counting;

    let mut found: Vec<Hotspot> = Vec::new();
    let mut index = FxHashMap::default();
    for (place, &is_hot) in hot.iter().enumerate() {
        if is_hot {
            index.insert(place as u32, found.len());
            found.push(Hotspot {
                place: places.list[place],
                samples: direct[place],
                positions: Vec::new(),
                callers: Vec::new(),
            });
        }
    }
    for ((place, position), count) in positions {
        if let Some(&at) = index.get(&place) {
            found[at].positions.push((position, count));
        }
    }
    for ((caller, place), count) in pairs {
        let Some(&at) = index.get(&place) else { continue };
        let total = totals[caller as usize];
        let least = CALLER_SHARE.max(share(direct[place as usize]) * CALLER_EXCESS);
        if count as f64 / total as f64 > least && share(count) > THRESHOLD {
            let place = places.list[caller as usize];
            found[at].callers.push(Caller { place, samples: count, total });
        }
    }
    for hotspot in &mut found {
        hotspot.positions.sort_rows_by_key(|&(at, count)| (Reverse(count), at));
        hotspot.callers.sort_rows_by_cached_key(|caller| {
            (Reverse(caller.samples), caller.total, caller.place.names(tables))
        });
    }
    found.sort_rows_by_cached_key(|spot| (Reverse(spot.samples), spot.place.names(tables)));
    found
}

impl Position {
    fn of(site: Site) -> Self {
        Self { line: site.line, start_col: site.start_col, end_col: site.end_col }
    }

    fn nowhere() -> Self {
        Self { line: 0, start_col: 0, end_col: 0 }
    }
}

impl Place {
    /// The function's name and its file, with `??` and the code where there is no name.
    pub fn names(self, tables: &Tables) -> (String, String) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match self {
            Self::Function(function, file) => (
                text(tables.locations.functions().get(function)),
                text(tables.locations.files().get(file)),
            ),
            Self::Unknown(code) => ("??".into(), format!("#{:x}", code.0)),
            Self::NoBacktrace => ("??".into(), "no backtrace".into()),
        }
    }
}

/// The place of each node of the tree.
struct Places {
    list: Vec<Place>,
    of: Vec<u32>,
}

impl Places {
    fn new(tables: &Tables) -> Self {
        let mut list = vec![Place::NoBacktrace];
        let mut ids: FxHashMap<Place, u32> = FxHashMap::default();
        let mut of = vec![0];
        for node in (1..tables.stacks.len() as u32).map(StackId) {
            let place = match site(tables, node) {
                Some(site) => Place::Function(site.function, site.file),
                None => Place::Unknown(tables.locations.code(tables.stacks.frame(node))),
            };
            of.push(*ids.entry(place).or_insert_with(|| {
                list.push(place);
                list.len() as u32 - 1
            }));
        }
        Self { list, of }
    }

    fn of(&self, node: StackId) -> u32 {
        self.of[node.0 as usize]
    }
}

/// What is known of a node: its innermost function, or its caller's, or its caller's caller's.
fn site(tables: &Tables, node: StackId) -> Option<Site> {
    let mut frames = tables.stacks.path(node).take(LOOK_THROUGH + 1);
    frames.find_map(|frame| tables.locations.at(frame).last()).copied()
}

/// Samples of a subtree, by the place that allocated them, hot places only; sorted by place.
#[derive(Default)]
struct Subtree {
    total: u64,
    hot: Vec<(u32, u64)>,
}

impl Subtree {
    fn add(&mut self, place: u32, count: u64) {
        match self.hot.binary_search_by_key(&place, |&(place, _)| place) {
            Ok(at) => self.hot[at].1 += count,
            Err(at) => self.hot.insert(at, (place, count)),
        }
    }

    fn merge(&mut self, mut other: Self) {
        self.total += other.total;
        if self.hot.len() < other.hot.len() {
            std::mem::swap(&mut self.hot, &mut other.hot);
        }
        for (place, count) in other.hot {
            self.add(place, count);
        }
    }
}

struct Counting<'a> {
    samples: &'a StackSamples,
    places: &'a Places,
    hot: &'a [bool],
    /// How often each place is on the path to the node being visited.
    on_path: Vec<u32>,
    /// Samples allocated in each place or below it.
    totals: Vec<u64>,
    /// Samples by caller and hot place.
    pairs: FxHashMap<(u32, u32), u64>,
    /// What has been seen below each node of the path, the root first.
    path: Vec<Subtree>,
}

impl Visit for Counting<'_> {
    fn enter(&mut self, node: StackId) {
        self.on_path[self.places.of(node) as usize] += 1;
        self.path.push(Subtree::default());
    }

    fn leave(&mut self, node: StackId) {
        let place = self.places.of(node);
        let count = self.samples.of(node);
        let mut below = self.path.pop().unwrap_or_default();
        let occurrences = &mut self.on_path[place as usize];
        *occurrences -= 1;
        if *occurrences == 0 {
            // The outermost occurrence: what is below the others is below it.
            for &(hot, count) in &below.hot {
                *self.pairs.entry((place, hot)).or_default() += count;
            }
            self.totals[place as usize] += below.total + count;
        }
        below.total += count;
        if count > 0 && self.hot[place as usize] {
            below.add(place, count);
        }
        if let Some(parent) = self.path.last_mut() {
            parent.merge(below);
        }
    }
}
