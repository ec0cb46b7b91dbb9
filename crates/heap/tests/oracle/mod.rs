//! Dominators and retained sizes of small random heaps, against what is left when each block or
//! root node, or a group of them, is taken away.

mod owners;
mod plan;
mod reference;

use std::collections::{BTreeMap, BTreeSet};

use memtrail_heap::graph::{Graph, Node, RootNode, RootNodeId};
use memtrail_heap::model::{Heap, Made, Value, shared};
use memtrail_heap::query;
use memtrail_heap::read::{Snapshot, Strength};
use memtrail_heap::write::{LabelRole, Space};
use memtrail_heap::{BlockIndex, Bytes, LabelId, RootKind, Words, tag};
use proptest::prelude::*;

use plan::*;
use reference::*;

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
