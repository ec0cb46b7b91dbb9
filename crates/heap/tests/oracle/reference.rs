//! What such a heap retains, found by taking away.

use std::collections::{BTreeMap, BTreeSet};

use memtrail_heap::read::Strength;

use super::plan::Plan;

/// A node of the oracle's graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Everything,
    Kind,
    Static,
    /// All finalisers.
    Finalisers,
    Label(usize),
    Block(usize),
    /// Memory outside the heap.
    Owner(usize),
}

/// How much of it.
pub(super) const fn owned(owner: usize) -> u64 {
    1 << (30 + owner)
}

pub(super) type Edges = BTreeMap<Place, Vec<Place>>;

pub(super) struct Oracle {
    /// All edges; ephemerons' data hangs from the first key.
    pub(super) edges: Edges,
    /// Those without the ephemerons'.
    pub(super) certain: Edges,
    pub(super) nodes: Vec<Place>,
    /// Finalisers that have to run, in the order of the plan.
    pub(super) dying: Vec<bool>,
    /// Whether any function of a finaliser retains its value.
    pub(super) has_circle: bool,
}

impl Oracle {
    pub(super) fn new(plan: &Plan) -> Self {
        let count = plan.blocks.len();
        let is_static = |block: usize| block < plan.statics;
        let mut edges = Edges::new();
        let mut add = |from, to| edges.entry(from).or_default().push(to);
        add(Place::Everything, Place::Kind);
        add(Place::Everything, Place::Static);
        for (id, above) in plan.labels.iter().enumerate() {
            add(above.map_or(Place::Kind, Place::Label), Place::Label(id));
        }
        for block in 0..plan.statics {
            add(Place::Static, Place::Block(block));
        }
        for (block, fields) in plan.blocks.iter().enumerate() {
            for to in fields.iter().flatten().filter(|to| !is_static(**to)) {
                add(Place::Block(block), Place::Block(*to));
            }
        }
        for block in 0..count {
            if let Some(owner) = plan.owner(block) {
                add(Place::Block(block), Place::Owner(owner));
            }
        }
        for (label, block, how) in &plan.roots {
            if *how == Strength::Strong && !is_static(*block) {
                add(Place::Label(*label), Place::Block(*block));
            }
        }
        add(Place::Everything, Place::Finalisers);
        for (place, (function, value, _)) in plan.finalisers.iter().enumerate() {
            let label = Place::Label(plan.labels.len() + place);
            add(Place::Finalisers, label);
            match (is_static(*function), is_static(*value)) {
                (true, _) => {}
                (false, true) => add(label, Place::Block(*function)),
                (false, false) => add(Place::Block(*value), Place::Block(*function)),
            }
        }
        let nodes = [Place::Everything, Place::Kind, Place::Static, Place::Finalisers]
            .into_iter()
            .chain((0..plan.labels.len() + plan.finalisers.len()).map(Place::Label))
            .chain((0..count + plan.ephemerons.len()).map(Place::Block))
            .chain(plan.owners().into_iter().map(Place::Owner))
            .collect();
        let dying = vec![false; plan.finalisers.len()];
        let mut oracle = Self { certain: edges.clone(), edges, nodes, dying, has_circle: false };
        oracle.ephemerons(plan);
        let circles: Vec<(usize, usize)> = plan
            .waiting()
            .filter(|(_, function, value, _)| {
                let reached = reach_from(&oracle.edges, &BTreeSet::new(), Place::Block(*function));
                reached.contains(&Place::Block(*value))
            })
            .map(|(place, function, ..)| (plan.labels.len() + place, function))
            .collect();
        oracle.has_circle = !circles.is_empty();
        oracle.keep(plan, &circles);
        for last in [false, true] {
            let reached = oracle.with_functions(plan);
            let mut kept = Vec::new();
            for (place, function, value, is_last) in plan.waiting().collect::<Vec<_>>() {
                if last == is_last && !reached.contains(&Place::Block(value)) {
                    oracle.dying[place] = true;
                    let what = if last { function } else { value };
                    kept.push((plan.labels.len() + place, what));
                }
            }
            let roots = plan.roots.iter().copied().chain(plan.finalisers.iter().enumerate().map(
                |(place, (function, value, is_last))| {
                    let is_alone = is_static(*function) && !is_last;
                    let how = if is_alone { Strength::Finaliser } else { Strength::Weak };
                    (plan.labels.len() + place, *value, how)
                },
            ));
            kept.extend(
                roots
                    .filter(|(_, block, how)| {
                        !last
                            && *how == Strength::Finaliser
                            && !is_static(*block)
                            && !reached.contains(&Place::Block(*block))
                    })
                    .map(|(label, block, _)| (label, block)),
            );
            oracle.keep(plan, &kept);
        }
        oracle
    }

    /// Edges from labels.
    pub(super) fn keep(&mut self, plan: &Plan, edges: &[(usize, usize)]) {
        for (label, block) in edges {
            for edges in [&mut self.edges, &mut self.certain] {
                edges.entry(Place::Label(*label)).or_default().push(Place::Block(*block));
            }
        }
        self.ephemerons(plan);
    }

    /// What the collector reaches, to which all functions are roots.
    pub(super) fn with_functions(&self, plan: &Plan) -> BTreeSet<Place> {
        let functions: Vec<Place> =
            plan.waiting().map(|(_, function, ..)| Place::Block(function)).collect();
        let mut all = Self {
            edges: self.edges.clone(),
            certain: self.certain.clone(),
            nodes: Vec::new(),
            dying: Vec::new(),
            has_circle: false,
        };
        all.edges.entry(Place::Everything).or_default().extend(functions);
        all.ephemerons(plan);
        all.reach(None)
    }

    /// What is left without a block when all finalisers have run that then have to: as the collector
    /// does it, which keeps every function whose value it has not yet found dead.
    pub(super) fn collected(&self, plan: &Plan, without: Option<Place>) -> BTreeSet<Place> {
        let mut edges = self.certain.clone();
        let mut waiting: Vec<_> = plan.waiting().collect();
        waiting.retain(|(place, .., is_last)| !(*is_last && self.dying[*place]));
        for (_, function, value, _) in &waiting {
            let of_value = edges.entry(Place::Block(*value)).or_default();
            of_value.retain(|to| {
                *to != Place::Block(*function) || plan.blocks[*value].contains(&Some(*function))
            });
        }
        loop {
            let mut roots = edges.clone();
            let functions = waiting.iter().map(|(_, function, ..)| Place::Block(*function));
            roots.entry(Place::Everything).or_default().extend(functions);
            let left = reach(&roots, &without.into_iter().collect());
            let before = waiting.len();
            waiting.retain(|(_, _, value, _)| left.contains(&Place::Block(*value)));
            if waiting.len() == before {
                return left;
            }
        }
    }

    /// Key to data, where ephemeron and key are there, until nothing changes.
    pub(super) fn ephemerons(&mut self, plan: &Plan) {
        let count = plan.blocks.len();
        loop {
            let reached = self.reach(None);
            let mut changed = false;
            for (place, (data, keys)) in plan.ephemerons.iter().enumerate() {
                let own = Place::Block(count + place);
                let Some(data) = data.filter(|data| *data >= plan.statics) else { continue };
                if reached.contains(&own)
                    && keys.iter().all(|key| reached.contains(&Place::Block(*key)))
                {
                    let key = keys.iter().find(|key| **key >= plan.statics);
                    let from = key.map_or(own, |key| Place::Block(*key));
                    let list = self.edges.entry(from).or_default();
                    if !list.contains(&Place::Block(data)) {
                        list.push(Place::Block(data));
                        changed = true;
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    pub(super) fn reach(&self, without: Option<Place>) -> BTreeSet<Place> {
        reach(&self.edges, &without.into_iter().collect())
    }

    /// What is left without some, each ephemeron's data only while all that it depends on is.
    pub(super) fn left(&self, plan: &Plan, without: &BTreeSet<Place>) -> BTreeSet<Place> {
        let mut edges = self.certain.clone();
        loop {
            let left = reach(&edges, without);
            let mut changed = false;
            for (place, (data, keys)) in plan.ephemerons.iter().enumerate() {
                let own = Place::Block(plan.blocks.len() + place);
                let Some(data) = data.filter(|data| *data >= plan.statics) else { continue };
                let list = edges.entry(own).or_default();
                if keys.iter().all(|key| left.contains(&Place::Block(*key)))
                    && !list.contains(&Place::Block(data))
                {
                    list.push(Place::Block(data));
                    changed = true;
                }
            }
            if !changed {
                return left;
            }
        }
    }
}

pub(super) fn reach(edges: &Edges, without: &BTreeSet<Place>) -> BTreeSet<Place> {
    reach_from(edges, without, Place::Everything)
}

pub(super) fn reach_from(
    edges: &Edges,
    without: &BTreeSet<Place>,
    start: Place,
) -> BTreeSet<Place> {
    let mut seen = BTreeSet::new();
    let mut todo = vec![start];
    while let Some(place) = todo.pop() {
        if !without.contains(&place) && seen.insert(place) {
            todo.extend(edges.get(&place).into_iter().flatten());
        }
    }
    seen
}
