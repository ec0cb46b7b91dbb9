//! What views ask of random heaps, against brute force.

use std::collections::{BTreeMap, BTreeSet};

use memtrail_heap::graph::{Node, RootNodeId, SUPER_ROOT};
use memtrail_heap::model::{Heap as Model, Made, Value};
use memtrail_heap::query::{
    self, Catalogue, Heap, ShapeId, ShapeOf, Shapes, Summary, block, referrers, sampled,
};
use memtrail_heap::read::{Peek, Snapshot, Strength};
use memtrail_heap::write::LabelRole;
use memtrail_heap::{BlockIndex, Bytes, RootKind, Words, tag};
use proptest::prelude::*;

/// Blocks with their fields, and the blocks that roots hold.
type Plan = (Vec<Vec<Option<usize>>>, Vec<(usize, usize)>);

const LABELS: usize = 4;

fn plan() -> impl Strategy<Value = Plan> {
    (1usize..30).prop_flat_map(|count| {
        let field = prop_oneof![4 => (0..count).prop_map(Some), 1 => Just(None)];
        (
            prop::collection::vec(prop::collection::vec(field, 0..4), count),
            prop::collection::vec((0..LABELS, 0..count), 1..6),
        )
    })
}

fn model((blocks, roots): &Plan) -> Model {
    let mut model = Model::new();
    let made: Vec<Made> = blocks
        .iter()
        .enumerate()
        .map(|(number, fields)| match fields.len() {
            0 if number % 2 == 0 => model.string(b"text"),
            0 => model.block(tag::CUSTOM, &[Value::Raw(9), Value::Raw(1 << number)]),
            size => model.block(0, &vec![Value::Int(1); size]),
        })
        .collect();
    for (block, fields) in made.iter().zip(blocks) {
        for (place, field) in fields.iter().enumerate() {
            if let Some(to) = field {
                model.set(*block, place, Value::Block(made[*to]));
            }
        }
    }
    let unit = model.labels.add(None, RootKind::Global, LabelRole::Unit, b"M", b"", 0);
    let labels: Vec<_> = (0..LABELS)
        .map(|number| {
            let above = (number > 1).then_some(unit);
            model.labels.add(above, RootKind::Global, LabelRole::Field, b"", b"", number as u64)
        })
        .collect();
    for (label, block) in roots {
        model.root_at(labels[*label], Value::Block(made[*block]), Strength::Strong, None);
    }
    model
}

fn with<R>(plan: &Plan, ask: impl FnOnce(&Heap<'_>) -> R) -> R {
    let bytes = model(plan).bytes();
    ask(&Heap::new(Snapshot::read(&bytes).unwrap(), 2).unwrap())
}

fn blocks(heap: &Heap<'_>) -> impl Iterator<Item = BlockIndex> {
    (0..heap.snapshot.blocks()).map(BlockIndex)
}

fn alive(heap: &Heap<'_>) -> Vec<BlockIndex> {
    blocks(heap).filter(|block| heap.graph.is_reachable(*block)).collect()
}

/// The dominators of a block, itself first.
fn above(heap: &Heap<'_>, block: BlockIndex) -> Vec<Node> {
    std::iter::successors(Some(Node::Block(block)), |node| heap.graph.dominator(*node)).collect()
}

/// The root node that a block is below, and the kinds from there down to it, repetitions once.
fn shape(heap: &Heap<'_>, catalogue: &Catalogue, block: BlockIndex) -> (RootNodeId, Vec<String>) {
    let (mut kinds, mut root_node) = (Vec::new(), SUPER_ROOT);
    for node in above(heap, block).into_iter().rev() {
        match node {
            Node::RootNode(below) => root_node = below,
            Node::Block(block) => kinds.push(catalogue.name(catalogue.kind(block)).to_owned()),
        }
    }
    kinds.dedup();
    (root_node, kinds)
}

proptest! {
    #[test]
    fn kinds_and_sizes_are_those_of_the_snapshot(plan in plan()) {
        with(&plan, |heap| {
            let catalogue = Catalogue::new(heap).unwrap();
            for index in blocks(heap) {
                let facts = block(heap, index, 100).unwrap().unwrap();
                let kind = catalogue.kind(index);
                prop_assert_eq!(catalogue.name(kind), &facts.kind);
                prop_assert_eq!(catalogue.find(&facts.kind), Some(kind));
                prop_assert_eq!(catalogue.size(index), facts.size);
                prop_assert_eq!(Some(catalogue.external(index)), facts.external);
            }
            prop_assert!(block(heap, BlockIndex(catalogue.len() as u32), 1).unwrap().is_none());
            Ok(())
        })?;
    }

    #[test]
    fn whoever_is_referenced_has_a_referrer(plan in plan()) {
        with(&plan, |heap| {
            let mut forward = BTreeSet::new();
            let mut backward = BTreeSet::new();
            for index in blocks(heap) {
                let facts = block(heap, index, 100).unwrap().unwrap();
                prop_assert_eq!(facts.references.len() as u64, facts.reference_count);
                for to in facts.references {
                    forward.insert((index, to.field, to.to));
                }
                let (count, found) = referrers(heap, index, 100).unwrap();
                prop_assert_eq!(found.len() as u64, count);
                let few = referrers(heap, index, 1).unwrap();
                prop_assert_eq!((few.0, &few.1[..]), (count, &found[..found.len().min(1)]));
                let roots = heap.snapshot.roots.iter().filter(|root| root.block == index).count();
                let root_nodes = found.iter().filter(|one| matches!(one.from, Node::RootNode(_)));
                prop_assert_eq!(root_nodes.count(), roots);
                for one in found {
                    if let Node::Block(from) = one.from {
                        backward.insert((from, one.field, index));
                    }
                }
            }
            prop_assert_eq!(forward, backward);
            Ok(())
        })?;
    }

    #[test]
    fn shapes_are_all_blocks_with_the_same_kinds_above(plan in plan()) {
        with(&plan, |heap| {
            let catalogue = Catalogue::new(heap).unwrap();
            let shapes = Shapes::new(heap, &catalogue);
            let mut expected: BTreeMap<(RootNodeId, Vec<String>), (Words, u64)> = BTreeMap::new();
            for block in alive(heap) {
                let sum = expected.entry(shape(heap, &catalogue, block)).or_default();
                sum.0.0 += catalogue.size(block).0;
                sum.1 += 1;
            }
            let mut found = BTreeMap::new();
            for number in 0..shapes.len() as u32 {
                let (mut kinds, mut at) = (Vec::new(), ShapeId(number));
                let root_node = loop {
                    match shapes.get(at).form {
                        ShapeOf::RootNode(root_node) => break root_node,
                        ShapeOf::Kind(kind) => kinds.push(catalogue.name(kind).to_owned()),
                        _ => prop_assert!(false, "no such shape in a small heap"),
                    }
                    at = shapes.get(at).parent;
                };
                kinds.reverse();
                let shape = shapes.get(ShapeId(number));
                let below: u64 =
                    shapes.children(ShapeId(number)).iter().map(|c| shapes.get(*c).retained.0).sum();
                prop_assert_eq!(shape.retained.0, shape.own.0 + below);
                if kinds.is_empty() {
                    prop_assert_eq!(shape.retained, heap.graph.held(root_node));
                    continue;
                }
                let tops = shapes.tops(heap, &catalogue, ShapeId(number));
                let sum: u64 = tops.iter().map(|top| catalogue.retained(heap, *top).0).sum();
                prop_assert_eq!((tops.len() as u64, sum), (shape.tops, shape.retained.0));
                prop_assert_eq!(tops.first().copied(), shape.largest);
                let external: Bytes = tops.iter().map(|top| heap.graph.external(*top)).sum();
                prop_assert_eq!(external, shape.external);
                found.insert((root_node, kinds), (shape.own, shape.blocks));
            }
            prop_assert_eq!(found, expected);
            Ok(())
        })?;
    }

    #[test]
    fn below_a_block_are_those_that_it_dominates(plan in plan()) {
        with(&plan, |heap| {
            let catalogue = Catalogue::new(heap).unwrap();
            for root in alive(heap) {
                let shapes = Shapes::below(heap, &catalogue, root);
                let inside: Vec<BlockIndex> = alive(heap)
                    .into_iter()
                    .filter(|block| above(heap, *block).contains(&Node::Block(root)))
                    .collect();
                let told = blocks(heap).filter(|block| shapes.of_block(*block).is_some());
                prop_assert_eq!(told.collect::<Vec<_>>(), inside);
                prop_assert_eq!(shapes.get(shapes.root()).retained, catalogue.retained(heap, root));
            }
            Ok(())
        })?;
    }

    #[test]
    fn ways_to_a_kind_carry_what_its_outermost_blocks_retain(plan in plan()) {
        with(&plan, |heap| {
            let catalogue = Catalogue::new(heap).unwrap();
            let shapes = Shapes::new(heap, &catalogue);
            for name in ["string", "tag 0, 2 fields", "tag 0, 1 field"] {
                let Some(kind) = catalogue.find(name) else { continue };
                let is = |node: &Node| {
                    matches!(node, Node::Block(block) if catalogue.kind(*block) == kind)
                };
                let outermost = alive(heap).into_iter().filter(|block| {
                    let way = above(heap, *block);
                    is(&way[0]) && !way[1..].iter().any(is)
                });
                let expected: u64 = outermost.map(|top| catalogue.retained(heap, top).0).sum();
                prop_assert_eq!(shapes.leading_to(kind)[0].0, expected);
            }
            Ok(())
        })?;
    }

    #[test]
    fn a_tally_is_the_histogram_with_what_every_kind_retains(plan in plan()) {
        with(&plan, |heap| {
            let catalogue = Catalogue::new(heap).unwrap();
            let shapes = Shapes::new(heap, &catalogue);
            let tally = query::tally(heap, &catalogue, &shapes).unwrap();
            let histogram = query::histogram(heap).unwrap();
            let figures = |of: &query::Histogram| {
                (of.blocks, of.bytes, of.unreachable_blocks, of.unreachable_bytes)
            };
            prop_assert_eq!(figures(&tally), figures(&histogram));
            prop_assert_eq!(tally.rows.len(), histogram.rows.len());
            for (row, same) in tally.rows.iter().zip(&histogram.rows) {
                prop_assert_eq!(&row.kind, &same.kind);
                let figures = |row: &query::KindRow| (row.blocks, row.bytes, row.external);
                prop_assert_eq!(figures(row), figures(same));
                prop_assert!(same.retained.is_none() || same.retained == row.retained);
                let kind = catalogue.find(&row.kind).unwrap();
                prop_assert_eq!(row.retained, Some(shapes.leading_to(kind)[0].bytes()));
            }
            Ok(())
        })?;
    }

    #[test]
    fn groups_retain_what_their_outermost_blocks_do(
        plan in plan(),
        chosen in prop::collection::vec((0u32..40, 0u32..3), 0..20),
    ) {
        with(&plan, |heap| {
            let catalogue = Catalogue::new(heap).unwrap();
            let mut chosen: Vec<(BlockIndex, u32)> = chosen
                .into_iter()
                .map(|(block, group)| (BlockIndex(block % heap.snapshot.blocks()), group))
                .collect();
            chosen.sort_unstable();
            chosen.dedup_by_key(|(block, _)| *block);
            let sums = sampled(heap, &catalogue, &chosen, 3);
            for group in 0..3 {
                let of_group = |block: &BlockIndex| chosen.contains(&(*block, group));
                let members: Vec<BlockIndex> =
                    alive(heap).into_iter().filter(|block| of_group(block)).collect();
                let outermost = members.iter().filter(|block| {
                    let way = above(heap, **block);
                    !way[1..].iter().any(|node| matches!(node, Node::Block(b) if of_group(b)))
                });
                let retained: u64 = outermost.map(|top| catalogue.retained(heap, *top).0).sum();
                let sum = sums[group as usize];
                prop_assert_eq!((sum.blocks, sum.retained.0), (members.len() as u64, retained));
            }
            Ok(())
        })?;
    }

    #[test]
    fn many_roots_reach_what_each_does(plan in plan(), times in 1usize..40) {
        with(&plan, |heap| {
            let all: Vec<RootNodeId> =
                (0..heap.graph.root_nodes().len() as u32).map(RootNodeId).collect();
            // More than fit into a pass.
            let many: Vec<RootNodeId> = all.repeat(times);
            let found = heap.graph.reach_each(&many, 2);
            for (root_node, found) in many.iter().zip(found) {
                let reached = heap.graph.reach(&[*root_node]);
                prop_assert_eq!((found.words, found.external), (reached.words, reached.external));
            }
            Ok(())
        })?;
    }

    #[test]
    fn summaries_add_up(plan in plan()) {
        with(&plan, |heap| {
            let summary = Summary::new(heap).unwrap();
            let histogram = query::histogram(heap).unwrap();
            prop_assert_eq!((summary.blocks, summary.bytes), (histogram.blocks, histogram.bytes));
            let kinds: Bytes = summary.kinds.iter().map(|kind| kind.bytes).sum();
            prop_assert_eq!(kinds, summary.bytes);
            // The coarsest roots, what several of a kind keep, and what several kinds do.
            let parts = summary.roots.iter().filter(|root| root.depth == 0);
            let parts: Bytes = parts.map(|root| root.retained).sum();
            prop_assert_eq!(parts + summary.several, summary.bytes);
            let owned: Bytes = summary.owners.iter().map(|owner| owner.owned).sum();
            prop_assert_eq!(owned, summary.bytes);
            let rows = query::owners(heap, &[]);
            prop_assert_eq!(rows.rows.iter().map(|row| row.owned).sum::<Bytes>(), rows.owned);
            prop_assert_eq!(rows.owned, summary.bytes);
            for row in &rows.rows {
                prop_assert!(row.retained <= row.owned, "{:?}", row);
            }
            Ok(())
        })?;
    }

    #[test]
    fn a_look_at_a_file_says_what_reading_it_does(plan in plan(), cut in 0.0..1.0) {
        let bytes = model(&plan).bytes();
        let snapshot = Snapshot::read(&bytes).unwrap();
        let peek = Peek::new(&bytes).unwrap();
        prop_assert_eq!(&peek.facts, &snapshot.facts);
        prop_assert_eq!((peek.blocks, peek.checksum), (snapshot.blocks().into(), snapshot.checksum()));
        prop_assert!(peek.is_whole);
        let part = &bytes[..(bytes.len() as f64 * cut) as usize];
        if let Ok(peek) = Peek::new(part) {
            prop_assert!(!peek.is_whole);
        }
    }
}

#[test]
fn a_block_of_40_fields_is_not_told_as_one_of_32() {
    let mut model = Model::new();
    let mut names = Vec::new();
    for size in [32, 33, 40, 63, 64] {
        let made = model.block(0, &vec![Value::Int(1); size]);
        model.root(RootKind::Global, "M", Value::Block(made), Strength::Strong);
    }
    let bytes = model.bytes();
    let heap = Heap::new(Snapshot::read(&bytes).unwrap(), 1).unwrap();
    for index in blocks(&heap) {
        names.push(block(&heap, index, 1).unwrap().unwrap().kind);
    }
    let (some, more) = ("tag 0, 33 to 63 fields", "tag 0, 64 to 127 fields");
    assert_eq!(names, ["tag 0, 32 fields", some, some, some, more]);
}
