//! Dominators and retained sizes of small random heaps, against what is left when each block or
//! holder, or a group of them, is taken away.

use std::collections::{BTreeMap, BTreeSet};

use memtrail_heap::graph::{Graph, Holder, HolderId, Node};
use memtrail_heap::model::{Heap, Made, Value};
use memtrail_heap::query;
use memtrail_heap::read::{Snapshot, Strength};
use memtrail_heap::write::{Part, Space};
use memtrail_heap::{BlockIndex, Bytes, LabelId, RootKind, Words, tag};
use proptest::prelude::*;

/// A heap as it is drawn: everything by number.
#[derive(Clone, Debug)]
struct Plan {
    /// For each block its fields: other blocks, or integers.
    blocks: Vec<Vec<Option<usize>>>,
    statics: usize,
    /// For each label the one above.
    labels: Vec<Option<usize>>,
    roots: Vec<(usize, usize, Strength)>,
    /// Data and keys.
    ephemerons: Vec<(Option<usize>, Vec<usize>)>,
}

impl Plan {
    /// Bytes outside the heap: some blocks that point to nothing are custom blocks with such.
    fn external(&self, block: usize) -> u64 {
        let custom = block.is_multiple_of(2)
            && block >= self.statics
            && self.blocks.get(block).is_some_and(|fields| fields.iter().all(Option::is_none));
        if custom { 1 << block } else { 0 }
    }

    /// Words with header.
    fn size(&self, block: usize) -> u64 {
        match self.blocks.get(block) {
            _ if self.external(block) > 0 => 3,
            Some(fields) => fields.len() as u64 + 2,
            None => 3 + self.ephemerons[block - self.blocks.len()].1.len() as u64,
        }
    }
}

fn plan(ephemerons: usize, keys: usize) -> impl Strategy<Value = Plan> {
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
        )
            .prop_map(|(blocks, statics, labels, roots, ephemerons)| Plan {
                labels: labels
                    .iter()
                    .enumerate()
                    .map(|(id, above)| above.filter(|above| *above < id))
                    .collect(),
                roots: roots
                    .into_iter()
                    .map(|(label, block, how)| (label % labels.len(), block, how))
                    .collect(),
                blocks,
                statics,
                ephemerons,
            })
    })
}

/// A node of the oracle's graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Everything,
    Kind,
    Static,
    Label(usize),
    Block(usize),
}

type Edges = BTreeMap<Place, Vec<Place>>;

struct Oracle {
    /// All edges; ephemerons' data hangs from the first key.
    edges: Edges,
    /// Those without the ephemerons'.
    certain: Edges,
    nodes: Vec<Place>,
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
        for (label, block, how) in &plan.roots {
            if *how == Strength::Strong && !is_static(*block) {
                add(Place::Label(*label), Place::Block(*block));
            }
        }
        let nodes = [Place::Everything, Place::Kind, Place::Static]
            .into_iter()
            .chain((0..plan.labels.len()).map(Place::Label))
            .chain((0..count + plan.ephemerons.len()).map(Place::Block))
            .collect();
        let mut oracle = Self { certain: edges.clone(), edges, nodes };
        oracle.ephemerons(plan);
        let reached = oracle.reach(None);
        for (label, block, how) in &plan.roots {
            let to = Place::Block(*block);
            if *how == Strength::Finaliser && !is_static(*block) && !reached.contains(&to) {
                oracle.edges.entry(Place::Label(*label)).or_default().push(to);
                oracle.certain.entry(Place::Label(*label)).or_default().push(to);
            }
        }
        oracle.ephemerons(plan);
        oracle
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
    let mut seen = BTreeSet::new();
    let mut todo = vec![Place::Everything];
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
            0 => heap.block_in(space, 0, &fields),
            external => heap.block(tag::CUSTOM, &[Value::Raw(16), Value::Raw(external)]),
        };
    }
    for above in &plan.labels {
        let above = above.map(|above| LabelId(above as u32));
        heap.labels.add(above, RootKind::Global, Part::Symbol, b"name", b"", 0);
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
    (plan, heap)
}

fn check(plan: &Plan, slots: bool, threads: usize) -> Result<(), TestCaseError> {
    let (plan, heap) = lay_out(plan, slots);
    let bytes = heap.bytes();
    let snapshot = Snapshot::read(&bytes).unwrap();
    prop_assert_eq!(snapshot.damage, None);
    prop_assert_eq!(snapshot.blocks() as usize, heap.len());
    let graph = Graph::new(&snapshot, threads).unwrap();
    let oracle = Oracle::new(&plan);
    let numbers = heap.numbers();
    let all = oracle.reach(None);

    let size = |place: &Place| match place {
        Place::Block(block) => (plan.size(*block), plan.external(*block)),
        _ => (0, 0),
    };
    let to_node = |place: Place| match place {
        Place::Everything => Node::Holder(HolderId(0)),
        Place::Kind => Node::Holder(graph.holders().kind(RootKind::Global)),
        Place::Static => Node::Holder(graph.holders().kind(RootKind::Static)),
        Place::Label(id) => Node::Holder(graph.holders().label(LabelId(id as u32))),
        Place::Block(block) => Node::Block(BlockIndex(numbers[block])),
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

        let without = oracle.reach(Some(*place));
        let freed = || all.iter().filter(|other| !without.contains(other)).map(size);
        let external = Bytes(freed().map(|size| size.1).sum());
        let freed: u64 = freed().map(|size| size.0).sum();
        match to_node(*place) {
            Node::Holder(holder) => {
                prop_assert!(!matches!(graph.holders().get(holder), Holder::Kind(RootKind::Other)));
                prop_assert_eq!(graph.held(holder), Words(freed), "retained by {:?}", place);
                prop_assert_eq!(graph.held_external(holder), external, "retained by {:?}", place);
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
        group.holders.push(heap.graph.holders().label(LabelId(label as u32)));
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
            _ => sum,
        })
    };
    let (_, retained, retained_external) =
        sum(all.iter().filter(|place| !left.contains(place)).collect());
    let (blocks, bytes, external) =
        sum(all.iter().filter(|place| without.contains(place)).collect());
    let truth = query::Retained { blocks, bytes, external, retained, retained_external };
    prop_assert_eq!(query::retained(&heap, &group).unwrap(), truth);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 1_000 } else { 100_000 }))]

    #[test]
    fn dominators_are_what_cannot_be_done_without(plan in plan(0, 0), slots: bool) {
        check(&plan, slots, 1)?;
    }

    #[test]
    fn ephemerons_and_finalisers_keep_as_they_should(plan in plan(3, 1)) {
        check(&plan, false, 2)?;
    }

    #[test]
    fn groups_retain_what_cannot_be_reached_without_them(
        plan in plan(3, 3),
        gone in proptest::collection::vec(proptest::bool::weighted(0.25), 20),
        labels in proptest::collection::vec(proptest::bool::weighted(0.2), 5),
    ) {
        check_group(&plan, &gone, &labels)?;
    }
}
