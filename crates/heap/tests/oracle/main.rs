//! Dominators and retained sizes of small random heaps, against what is left when each block or
//! root node, or a group of them, is taken away.

mod owners;

use std::collections::{BTreeMap, BTreeSet};

use memtrail_heap::graph::{Graph, Node, RootNode, RootNodeId};
use memtrail_heap::model::{Heap, Made, Value, shared};
use memtrail_heap::query;
use memtrail_heap::read::{Snapshot, Strength};
use memtrail_heap::write::{LabelRole, Space};
use memtrail_heap::{BlockIndex, Bytes, LabelId, RootKind, Words, tag};
use proptest::prelude::*;

/// A heap as it is drawn: everything by number.
#[derive(Clone, Debug)]
struct Plan {
    /// For each block its fields: other blocks, or integers.
    blocks: Vec<Vec<Option<usize>>>,
    /// Those that are closures, unless they have bytes outside the heap.
    closures: Vec<usize>,
    statics: usize,
    /// For each label the one above.
    labels: Vec<Option<usize>>,
    /// For each label what sort of roots it is of.
    kinds: Vec<RootKind>,
    /// For each label its name.
    names: Vec<&'static str>,
    roots: Vec<(usize, usize, Strength)>,
    /// Data and keys.
    ephemerons: Vec<(Option<usize>, Vec<usize>)>,
    /// Functions, values, and whether they are of `Gc.finalise_last`.
    finalisers: Vec<(usize, usize, bool)>,
}

impl Plan {
    /// Bytes outside the heap: some blocks that point to nothing are custom blocks with such.
    fn external(&self, block: usize) -> u64 {
        let custom = block.is_multiple_of(2)
            && block >= self.statics
            && self.blocks.get(block).is_some_and(|fields| fields.iter().all(Option::is_none));
        if custom { 1 << block } else { 0 }
    }

    /// Memory outside the heap that it shares: some custom blocks do.
    fn owner(&self, block: usize) -> Option<usize> {
        (self.external(block) > 0 && !block.is_multiple_of(3)).then_some(block / 2 % 2)
    }

    /// All such memory, in the order of blocks that first have it.
    fn owners(&self) -> Vec<usize> {
        let mut owners = Vec::new();
        for owner in (0..self.blocks.len()).filter_map(|block| self.owner(block)) {
            if !owners.contains(&owner) {
                owners.push(owner);
            }
        }
        owners
    }

    /// Finalisers whose functions wait for their values: number, function, value, kind.
    fn waiting(&self) -> impl Iterator<Item = (usize, usize, usize, bool)> {
        let statics = self.statics;
        let all = self.finalisers.clone().into_iter().enumerate();
        all.filter(move |(_, (function, value, _))| *function >= statics && *value >= statics)
            .map(|(place, (function, value, is_last))| (place, function, value, is_last))
    }

    /// Words with header.
    fn size(&self, block: usize) -> u64 {
        match self.blocks.get(block) {
            _ if self.external(block) > 0 => 3 + u64::from(self.owner(block).is_some()),
            Some(fields) if self.closures.contains(&block) => fields.len() as u64 + 4,
            Some(fields) => fields.len() as u64 + 2,
            None => 3 + self.ephemerons[block - self.blocks.len()].1.len() as u64,
        }
    }
}

fn plan(ephemerons: usize, keys: usize, finalisers: usize) -> impl Strategy<Value = Plan> {
    (1usize..14).prop_flat_map(move |count| {
        let block = || prop_oneof![5 => (0..count).prop_map(Some), 1 => Just(None)];
        (
            proptest::collection::vec(proptest::collection::vec(block(), 0..4), count),
            0..=count / 4,
            proptest::collection::vec(proptest::option::of(0usize..3), 1..5),
            proptest::collection::vec(
                (
                    0usize..5,
                    0..count,
                    prop_oneof![
                        6 => Just(Strength::Strong),
                        1 => Just(Strength::Finaliser),
                        1 => Just(Strength::Weak)
                    ],
                ),
                0..5,
            ),
            proptest::collection::vec(
                (block(), proptest::collection::vec(0..count, 0..=keys)),
                0..=ephemerons,
            ),
            proptest::collection::vec((0..count, 0..count, any::<bool>()), 0..=finalisers),
        )
            .prop_map(|(blocks, statics, labels, roots, ephemerons, finalisers)| Plan {
                labels: labels
                    .iter()
                    .enumerate()
                    .map(|(id, above)| above.filter(|above| *above < id))
                    .collect(),
                kinds: vec![RootKind::Global; labels.len()],
                names: vec!["name"; labels.len()],
                closures: Vec::new(),
                roots: roots
                    .into_iter()
                    .map(|(label, block, how)| (label % labels.len(), block, how))
                    .collect(),
                blocks,
                statics,
                ephemerons,
                finalisers,
            })
    })
}

/// A node of the oracle's graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
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
const fn owned(owner: usize) -> u64 {
    1 << (30 + owner)
}

type Edges = BTreeMap<Place, Vec<Place>>;

struct Oracle {
    /// All edges; ephemerons' data hangs from the first key.
    edges: Edges,
    /// Those without the ephemerons'.
    certain: Edges,
    nodes: Vec<Place>,
    /// Finalisers that have to run, in the order of the plan.
    dying: Vec<bool>,
    /// Whether any function of a finaliser retains its value.
    has_circle: bool,
}

impl Oracle {
    fn new(plan: &Plan) -> Self {
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
    fn keep(&mut self, plan: &Plan, edges: &[(usize, usize)]) {
        for (label, block) in edges {
            for edges in [&mut self.edges, &mut self.certain] {
                edges.entry(Place::Label(*label)).or_default().push(Place::Block(*block));
            }
        }
        self.ephemerons(plan);
    }

    /// What the collector reaches, to which all functions are roots.
    fn with_functions(&self, plan: &Plan) -> BTreeSet<Place> {
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
    fn collected(&self, plan: &Plan, without: Option<Place>) -> BTreeSet<Place> {
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
    fn ephemerons(&mut self, plan: &Plan) {
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

    fn reach(&self, without: Option<Place>) -> BTreeSet<Place> {
        reach(&self.edges, &without.into_iter().collect())
    }

    /// What is left without some, each ephemeron's data only while all that it depends on is.
    fn left(&self, plan: &Plan, without: &BTreeSet<Place>) -> BTreeSet<Place> {
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

fn reach(edges: &Edges, without: &BTreeSet<Place>) -> BTreeSet<Place> {
    reach_from(edges, without, Place::Everything)
}

fn reach_from(edges: &Edges, without: &BTreeSet<Place>, start: Place) -> BTreeSet<Place> {
    let mut seen = BTreeSet::new();
    let mut todo = vec![start];
    while let Some(place) = todo.pop() {
        if !without.contains(&place) && seen.insert(place) {
            todo.extend(edges.get(&place).into_iter().flatten());
        }
    }
    seen
}

/// Lays the plan out: static blocks first, then the others, then ephemerons, each held by the first
/// label, so that they live.
fn lay_out(plan: &Plan, slots: bool) -> (Plan, Heap) {
    let mut plan = plan.clone();
    let mut heap = Heap::new();
    heap.slots = slots;
    for (block, fields) in plan.blocks.iter().enumerate() {
        let space = if block < plan.statics { Space::Static } else { Space::Major };
        let fields: Vec<Value> = fields
            .iter()
            .map(|field| field.map_or(Value::Int(7), |to| Value::Block(Made(to))))
            .chain([Value::Int(block as i64)])
            .collect();
        match plan.external(block) {
            0 if plan.closures.contains(&block) => {
                let code = [Value::Raw(77), Value::Raw(1 << 56 | 2 << 1 | 1)];
                heap.block_in(space, tag::CLOSURE, &[&code, &*fields].concat())
            }
            0 => heap.block_in(space, 0, &fields),
            external => {
                let mut fields = vec![Value::Raw(16), Value::Raw(external)];
                fields.extend(plan.owner(block).map(|owner| shared(owned(owner))));
                heap.block(tag::CUSTOM, &fields)
            }
        };
    }
    for ((above, kind), name) in plan.labels.iter().zip(&plan.kinds).zip(&plan.names) {
        let above = above.map(|above| LabelId(above as u32));
        heap.labels.add(above, *kind, LabelRole::Symbol, name.as_bytes(), b"", 0);
    }
    let count = plan.blocks.len();
    for (place, (data, keys)) in plan.ephemerons.iter().enumerate() {
        let keys: Vec<_> = keys.iter().map(|to| Some(Value::Block(Made(*to)))).collect();
        heap.ephemeron(data.map(|to| Value::Block(Made(to))), &keys);
        plan.roots.push((0, count + place, Strength::Strong));
    }
    // Static blocks are found only where something points to them.
    for block in 0..plan.statics {
        plan.roots.push((0, block, Strength::Weak));
    }
    for (label, block, how) in &plan.roots {
        heap.root_at(LabelId(*label as u32), Value::Block(Made(*block)), *how, None);
    }
    for (function, value, is_last) in &plan.finalisers {
        let label = heap.labels.add(None, RootKind::Finaliser, LabelRole::Function, b"f", b"", 0);
        heap.root_at(label, Value::Block(Made(*function)), Strength::Strong, None);
        let how = if *is_last { Strength::Last } else { Strength::Finaliser };
        heap.root_at(label, Value::Block(Made(*value)), how, None);
    }
    (plan, heap)
}

fn check(plan: &Plan, slots: bool, threads: usize) -> Result<(), TestCaseError> {
    let (plan, heap) = lay_out(plan, slots);
    let bytes = heap.bytes();
    let snapshot = Snapshot::read(&bytes).unwrap();
    prop_assert_eq!(snapshot.damage, None);
    let owners = plan.owners();
    prop_assert_eq!(snapshot.blocks() as usize, heap.len() + owners.len());
    let graph = Graph::new(&snapshot, threads).unwrap();
    let oracle = Oracle::new(&plan);
    let numbers = heap.numbers();
    let all = oracle.reach(None);

    let size = |place: &Place| match place {
        Place::Block(block) => (plan.size(*block), plan.external(*block)),
        Place::Owner(owner) => (0, owned(*owner)),
        _ => (0, 0),
    };
    let to_node = |place: Place| match place {
        Place::Everything => Node::RootNode(RootNodeId(0)),
        Place::Kind => Node::RootNode(graph.root_nodes().kind(RootKind::Global)),
        Place::Static => Node::RootNode(graph.root_nodes().kind(RootKind::Static)),
        Place::Finalisers => Node::RootNode(graph.root_nodes().kind(RootKind::Finaliser)),
        Place::Label(id) => Node::RootNode(graph.root_nodes().label(LabelId(id as u32))),
        Place::Block(block) => Node::Block(BlockIndex(numbers[block])),
        Place::Owner(owner) => {
            let place = owners.iter().position(|known| *known == owner).unwrap();
            Node::Block(BlockIndex((heap.len() + place) as u32))
        }
    };
    for place in &oracle.nodes {
        let mut truth: BTreeSet<Node> = BTreeSet::new();
        if all.contains(place) {
            for other in oracle.nodes.iter().filter(|other| *other != place && all.contains(other))
            {
                if !oracle.reach(Some(*other)).contains(place) {
                    truth.insert(to_node(*other));
                }
            }
        }
        let mut mine = BTreeSet::new();
        let mut at = graph.dominator(to_node(*place));
        while let Some(above) = at {
            mine.insert(above);
            at = graph.dominator(above);
        }
        prop_assert_eq!(&mine, &truth, "dominators of {:?}", place);

        // What root nodes retain is corrected for data of ephemerons that several of them keep.
        let without = match place {
            Place::Block(_) | Place::Owner(_) | Place::Static => oracle.reach(Some(*place)),
            _ => oracle.left(&plan, &BTreeSet::from([*place])),
        };
        let freed = || all.iter().filter(|other| !without.contains(other)).map(size);
        let external = Bytes(freed().map(|size| size.1).sum());
        let freed: u64 = freed().map(|size| size.0).sum();
        match to_node(*place) {
            Node::RootNode(root_node) => {
                prop_assert!(!matches!(
                    graph.root_nodes().get(root_node),
                    RootNode::Kind(RootKind::Other)
                ));
                prop_assert_eq!(graph.held(root_node), Words(freed), "retained by {:?}", place);
                prop_assert_eq!(
                    graph.held_external(root_node),
                    external,
                    "retained by {:?}",
                    place
                );
            }
            Node::Block(block) if all.contains(place) => {
                let mine = graph.retained(block).map_or(size(place).0, |words| words.0);
                prop_assert_eq!(mine, freed, "retained by {:?}", place);
                prop_assert_eq!(graph.external(block), external, "retained by {:?}", place);
            }
            Node::Block(block) => prop_assert!(!graph.is_reachable(block)),
        }
    }
    Ok(())
}

/// What would be freed without each block, against what the collector frees.
fn check_collected(plan: &Plan) -> Result<(), TestCaseError> {
    let (plan, heap) = lay_out(plan, false);
    let bytes = heap.bytes();
    let snapshot = Snapshot::read(&bytes).unwrap();
    let graph = Graph::new(&snapshot, 1).unwrap();
    let oracle = Oracle::new(&plan);
    // Whoever breaks a circle frees more than is said.
    if oracle.has_circle {
        return Ok(());
    }
    let all = oracle.collected(&plan, None);
    for block in plan.statics..plan.blocks.len() {
        let number = BlockIndex(heap.numbers()[block]);
        prop_assert_eq!(graph.is_reachable(number), all.contains(&Place::Block(block)));
        let left = oracle.collected(&plan, Some(Place::Block(block)));
        let freed = all.difference(&left).map(|place| match place {
            Place::Block(block) => plan.size(*block),
            _ => 0,
        });
        let freed: u64 = freed.sum();
        if graph.is_reachable(number) {
            let mine = graph.retained(number).map_or(plan.size(block), |words| words.0);
            prop_assert_eq!(mine, freed, "retained by block {}", block);
        }
    }
    Ok(())
}

/// What a group retains together.
fn check_group(plan: &Plan, gone: &[bool], labels: &[bool]) -> Result<(), TestCaseError> {
    let (plan, heap) = lay_out(plan, false);
    let bytes = heap.bytes();
    let numbers = heap.numbers();
    let heap = query::Heap::new(Snapshot::read(&bytes).unwrap(), 2).unwrap();
    let oracle = Oracle::new(&plan);
    let all = oracle.left(&plan, &BTreeSet::new());
    prop_assert_eq!(&all, &oracle.reach(None));
    let mut group = query::RetainedGroup::default();
    let mut without = BTreeSet::new();
    for (block, number) in numbers.iter().enumerate().filter(|(block, _)| gone[*block]) {
        group.blocks.push(BlockIndex(*number));
        without.insert(Place::Block(block));
    }
    for label in (0..plan.labels.len()).filter(|label| labels[*label]) {
        group.root_nodes.push(heap.graph.root_nodes().label(LabelId(label as u32)));
        without.insert(Place::Label(label));
    }
    let left = oracle.left(&plan, &without);
    let sum = |places: Vec<&Place>| {
        places.into_iter().fold((0, Bytes(0), Bytes(0)), |sum, place| match place {
            Place::Block(block) => (
                sum.0 + 1,
                sum.1 + Words(plan.size(*block)).bytes(),
                sum.2 + Bytes(plan.external(*block)),
            ),
            Place::Owner(owner) => (sum.0, sum.1, sum.2 + Bytes(owned(*owner))),
            _ => sum,
        })
    };
    // Static data is never freed.
    let is_static = |place: &&Place| matches!(place, Place::Block(at) if *at < plan.statics);
    let freed = all.iter().filter(|place| !left.contains(place) && !is_static(place));
    let (_, retained, retained_external) = sum(freed.collect());
    let statics = all.iter().filter(|place| without.contains(place) && is_static(place));
    let (_, static_bytes, _) = sum(statics.collect());
    let (blocks, bytes, external) =
        sum(all.iter().filter(|place| without.contains(place)).collect());
    let truth =
        query::Retained { blocks, bytes, static_bytes, external, retained, retained_external };
    prop_assert_eq!(query::retained(&heap, &group).unwrap(), truth);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 1_000 } else { 100_000 }))]

    #[test]
    fn dominators_are_what_cannot_be_done_without(plan in plan(0, 0, 0), slots: bool) {
        check(&plan, slots, 1)?;
    }

    #[test]
    fn ephemerons_and_finalisers_keep_as_they_should(plan in plan(3, 1, 4)) {
        check(&plan, false, 2)?;
    }

    /// The functions of finalisers are freed with their values, and what they capture.
    #[test]
    fn a_block_retains_what_the_collector_frees_when_finalisers_have_run(plan in plan(0, 0, 4)) {
        check_collected(&plan)?;
    }

    #[test]
    fn groups_retain_what_can_be_freed_and_not_reached_without_them(
        plan in plan(3, 3, 3),
        gone in proptest::collection::vec(proptest::bool::weighted(0.25), 20),
        labels in proptest::collection::vec(proptest::bool::weighted(0.2), 5),
    ) {
        check_group(&plan, &gone, &labels)?;
    }
}
