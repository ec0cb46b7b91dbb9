//! Questions to a heap that is known block by block.

use std::collections::BTreeMap;

use memtrail_heap::graph::{Graph, Node, SUPER_ROOT};
use memtrail_heap::model::{Heap as Model, Made, Value};
use memtrail_heap::query::{
    Change, Growth, Heap, JointLimits, ReachCache, RetainedGroup, RootOrder, RootQuery, RootRow,
    RootsBy, Summary, diff, disjoint_paths, dominated, everything, growth, histogram, info,
    joint_shares, merged_paths, path, retained, root_rows, roots, sample, shared, stack,
    stored_root, strings,
};
use memtrail_heap::read::{Snapshot, Strength};
use memtrail_heap::write::{LabelRole, Space};
use memtrail_heap::{Address, BlockIndex, Bytes, LabelId, RootKind, tag};
use memtrail_test_support::models::Feed;

/// A module with a list of `cells` strings in its second field, a thread with a frame that holds
/// the last cell and a pair; a closure, a custom block and a float hang from the pair.
struct Known {
    model: Model,
    cells: Vec<Made>,
    pair: Made,
    field: LabelId,
    frame: LabelId,
}

fn known(cells: usize) -> Known {
    let mut feed = Feed::new(7);
    feed.heap.facts.program = b"server".to_vec();
    feed.heap.facts.pause = 5;
    let module =
        feed.heap.block_in(Space::Static, 0, &[Value::Int(3), Value::Int(0), Value::Int(0)]);
    let mut list = Vec::new();
    for cell in 0..cells {
        let text = feed.text(cell);
        list.push(feed.heap.block(0, &[Value::Block(text), Value::Int(0)]));
    }
    for two in list.windows(2) {
        feed.heap.set(two[0], 1, Value::Block(two[1]));
    }
    let custom = feed.custom();
    let Feed { heap: mut model, unit, field, frame } = feed;
    model.set(module, 1, Value::Block(list[0]));
    model.root_at(field, Value::Block(list[0]), Strength::Strong, Some((module, 1)));
    // Nothing points to the module itself: without this it would not be in the snapshot.
    model.root_at(unit, Value::Block(module), Strength::Weak, None);
    let closure = model
        .block(tag::CLOSURE, &[Value::Raw(77), Value::Raw(1 << 56 | 2 << 1 | 1), Value::Int(1)]);
    let float = model.block(tag::DOUBLE, &[Value::Raw(0)]);
    let pair = model.block(0, &[Value::Block(closure), Value::Block(custom), Value::Block(float)]);
    model.root_at(frame, Value::Block(*list.last().unwrap()), Strength::Strong, None);
    model.root_at(frame, Value::Block(pair), Strength::Strong, None);
    model.sample(pair, 42);
    model.block(0, &[Value::Int(1)]); // nothing points to this one
    Known { model, cells: list, pair, field, frame }
}

fn with<R>(model: &Model, ask: impl FnOnce(&Heap<'_>) -> R) -> R {
    let bytes = model.bytes();
    ask(&Heap::new(Snapshot::read(&bytes).unwrap(), 2).unwrap())
}

fn number(model: &Model, made: Made) -> BlockIndex {
    BlockIndex(model.numbers()[made.0])
}

#[test]
fn info_counts_everything() {
    with(&known(10).model, |heap| {
        let info = info(heap).unwrap();
        assert_eq!((info.program.as_str(), info.pause), ("server", Some(5)));
        assert_eq!(info.counters, [("major_collections".into(), 7)]);
        assert_eq!(info.reachable_blocks, 25);
        assert_eq!((info.unreachable_blocks, info.unreachable_bytes), (Some(1), Some(Bytes(16))));
        assert_eq!(info.external, Bytes(4096));
        assert_eq!((info.samples, info.roots, info.finalisers), (1, 4, 0));
        assert_eq!(info.damage, None);
    });
}

/// The rows of the roots that a query selects.
fn rows(heap: &Heap<'_>, query: &RootQuery<'_>) -> Vec<RootRow> {
    let reach = ReachCache::default();
    root_rows(heap, &roots(heap, query, &reach), &reach)
}

fn thread_of(rows: &[RootRow]) -> LabelId {
    rows.iter().find(|row| row.path == ["thread 1"]).unwrap().label.unwrap()
}

#[test]
fn roots_retain_what_only_they_keep() {
    let known = known(10);
    with(&known.model, |heap| {
        let rows = rows(heap, &RootQuery::default());
        let of = |label: LabelId| rows.iter().find(|row| row.label == Some(label)).unwrap();
        // Nine cells and their strings are the module's; the last pair is shared with the frame.
        let text = |cell: usize| if cell.is_multiple_of(2) { 16 } else { 24 };
        let field = of(known.field);
        assert_eq!(field.path, ["Feed", "field 1"]);
        assert_eq!(field.retained, Bytes((0..9).map(|cell| 24 + text(cell)).sum()));
        assert_eq!(field.reachable, Bytes((0..10).map(|cell| 24 + text(cell)).sum()));
        assert_eq!(field.shared, Bytes(24 + text(9)));
        let frame = of(known.frame);
        assert_eq!(frame.path, ["thread 1", "Feed.serve (feed.ml:12)"]);
        assert_eq!(frame.retained, Bytes(32 + 32 + 24 + 16));
        assert_eq!((frame.retained_external, frame.reachable_external), (Bytes(4096), Bytes(4096)));
        assert_eq!(field.retained_external, Bytes(0));
        let all = |row: &RootRow| row.retained + row.retained_external;
        assert!(rows.is_sorted_by(|a, b| all(a) >= all(b)));
        assert_eq!(stack(heap).len(), 3);
        let stacks = RootQuery { kind: Some(RootKind::Stack), ..RootQuery::default() };
        let stacks = self::rows(heap, &stacks);
        assert!(stacks.len() == 3 && stacks.iter().all(|row| row.kind == "stack"));

        // The last cell is the module's and the thread's, and no other's.
        let all: u64 = (0..10).map(|cell| 24 + text(cell)).sum::<u64>() + 32 + 32 + 24 + 16;
        let module = Bytes(32);
        let everything = everything(heap);
        assert_eq!(everything.retained, Bytes(all + module.0));
        assert_eq!(everything.jointly_retained, Bytes(24 + text(9)));
        let external = (everything.retained_external, everything.jointly_retained_external);
        assert_eq!(external, (Bytes(4096), Bytes(0)));
        assert_eq!((frame.jointly_retained, field.jointly_retained), (Bytes(0), Bytes(0)));
        assert_eq!(frame.part_of, heap.graph.root_nodes().label(thread_of(&rows)));

        let order = RootOrder::Reachable;
        let by_reach = self::rows(heap, &RootQuery { order, ..RootQuery::default() });
        assert_eq!(by_reach.len(), rows.len());
        let reached = |row: &RootRow| row.reachable + row.reachable_external;
        assert!(by_reach.is_sorted_by(|a, b| reached(a) >= reached(b)));
        assert!(rows.iter().all(|row| reached(row) <= reached(&by_reach[0])));

        let root_nodes = heap.graph.root_nodes();
        let both = shared(heap, root_nodes.label(known.field), root_nodes.label(known.frame));
        assert_eq!(both.names[1], "Feed.serve (feed.ml:12)");
        assert_eq!(both.common, Bytes(24 + text(9)));
    });
}

#[test]
fn histogram_counts_by_kind() {
    with(&known(10).model, |heap| {
        let histogram = histogram(heap).unwrap();
        let row = |kind: &str| histogram.rows.iter().find(|row| row.kind == kind).unwrap();
        assert_eq!(row("string").blocks, 10);
        assert_eq!(row("string").bytes, Bytes(5 * 16 + 5 * 24));
        assert_eq!(row("closure Module.f77 module.ml:77").bytes, Bytes(32));
        assert_eq!(row("custom _custom9").external, Bytes(4096));
        assert_eq!(row("float").blocks, 1);
        assert_eq!(histogram.unreachable_blocks, Some(1));
        // Nested instances count once: the list's cells retain each other.
        let cells = row("tag 0, 2 fields");
        assert_eq!((cells.blocks, cells.bytes), (10, Bytes(240)));
        assert_eq!(cells.retained, Some(Bytes(10 * 24 + 5 * 16 + 5 * 24)));
    });
}

#[test]
fn children_are_grouped_by_kind() {
    let known = known(3);
    with(&known.model, |heap| {
        let top = dominated(heap, Node::RootNode(SUPER_ROOT)).unwrap();
        // The last cell hangs from nothing less than everything.
        assert_eq!(top.groups.len(), 1);
        assert_eq!(top.groups[0].largest, number(&known.model, known.cells[2]));
        assert_eq!(
            top.root_nodes.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(),
            ["stack", "global", "static"]
        );
        let pair = dominated(heap, Node::Block(number(&known.model, known.pair))).unwrap();
        let kinds: Vec<_> = pair.groups.iter().map(|group| group.kind.as_str()).collect();
        assert_eq!(kinds, ["closure Module.f77 module.ml:77", "custom _custom9", "float"]);
    });
}

#[test]
fn paths_lead_from_roots_and_repetitions_are_one_step() {
    let known = known(50);
    with(&known.model, |heap| {
        let target = number(&known.model, known.cells[40]);
        let path = path(heap, target).unwrap().unwrap();
        let steps: Vec<_> =
            path.steps.iter().map(|step| (step.name.as_str(), step.field, step.times)).collect();
        assert_eq!(
            steps,
            [
                ("global", None, 1),
                ("Feed", None, 1),
                ("field 1", None, 1),
                ("tag 0, 2 fields", Some(1), 40),
                ("tag 0, 2 fields", None, 1),
            ]
        );
        assert!(path.steps.iter().all(|step| step.dominates));
        assert_eq!(path.steps[3].block, Some(number(&known.model, known.cells[0])));

        let (there, some) = sample(heap, "string", 16).unwrap();
        assert_eq!(there, 50);
        assert!(some.len() <= 16 && some.len() > 7);
        let merged = merged_paths(heap, &some).unwrap();
        assert_eq!(merged[0].shape.last().unwrap(), "string");
        assert_eq!(merged.iter().map(|path| path.blocks).sum::<u64>(), some.len() as u64);
    });
}

#[test]
fn all_disjoint_paths_are_told() {
    let known = known(50);
    with(&known.model, |heap| {
        // The module's list and the frame both lead to the last cell.
        let last = number(&known.model, known.cells[49]);
        let found = disjoint_paths(heap, last, 10).unwrap();
        assert!(found.all);
        let roots: Vec<_> = found.paths.iter().map(|path| path.steps[0].name.as_str()).collect();
        assert_eq!(roots, ["stack", "global"]);
        assert_eq!(found.paths[1].steps[3].times, 49);
        let some = disjoint_paths(heap, last, 1).unwrap();
        assert_eq!((some.paths.len(), some.all), (1, false));
        // All ways to another cell share the one before.
        let inner = disjoint_paths(heap, number(&known.model, known.cells[30]), 10).unwrap();
        assert_eq!((inner.paths.len(), inner.all), (1, true));
    });
}

#[test]
fn groups_retain_more_than_their_sum() {
    let known = known(50);
    with(&known.model, |heap| {
        let (first, pair) =
            (number(&known.model, known.cells[0]), number(&known.model, known.pair));
        let list = Bytes((0..49).map(|cell| 24 + if cell % 2 == 0 { 16 } else { 24 }).sum());
        let of = |group: RetainedGroup| retained(heap, &group).unwrap();
        let cell = of(RetainedGroup { blocks: vec![first], ..RetainedGroup::default() });
        assert_eq!((cell.blocks, cell.bytes, cell.retained), (1, Bytes(24), list));
        // Without the module and the frame, the last cell goes as well.
        let root_nodes = heap.graph.root_nodes();
        let both = of(RetainedGroup {
            root_nodes: vec![root_nodes.label(known.field), root_nodes.label(known.frame)],
            ..RetainedGroup::default()
        });
        let frame = heap.graph.held(root_nodes.label(known.frame)).bytes();
        assert_eq!(both.retained, list + Bytes(24 + 24) + frame);
        assert_eq!((both.blocks, both.retained_external), (0, Bytes(4096)));
        let strings = of(RetainedGroup {
            kinds: vec!["string".into()],
            blocks: vec![pair, pair],
            ..RetainedGroup::default()
        });
        assert_eq!(strings.blocks, 51);
        let texts = Bytes(25 * 16 + 25 * 24);
        assert_eq!(strings.retained, texts + heap.graph.retained(pair).unwrap().bytes());
        assert_eq!((strings.external, strings.retained_external), (Bytes(0), Bytes(4096)));
    });
}

#[test]
fn ways_through_a_hash_table_and_a_search_tree_have_one_shape() {
    let mut model = Model::new();
    let unit = model.labels.add(None, RootKind::Global, LabelRole::Unit, b"Cache", b"", 0);
    // Eighty buckets, with trees of different depths, and a float at the end of each.
    let mut buckets = Vec::new();
    for bucket in 0..80_usize {
        let mut below = model.block(tag::DOUBLE, &[Value::Raw(0)]);
        for level in 0..=bucket % 5 {
            let mut fields = [Value::Int(0); 3];
            fields[if level == 0 { 1 } else { level % 2 * 2 }] = Value::Block(below);
            below = model.block(0, &fields);
        }
        buckets.push(Value::Block(below));
    }
    let table = model.block(0, &buckets);
    model.root_at(unit, Value::Block(table), Strength::Strong, None);
    with(&model, |heap| {
        let (there, floats) = sample(heap, "float", 1000).unwrap();
        assert_eq!(there, 80);
        let merged = merged_paths(heap, &floats).unwrap();
        let shapes: Vec<_> = merged.iter().map(|path| (path.blocks, path.shape.clone())).collect();
        let steps =
            ["global", "Cache", "tag 0, 64 to 127 fields .(…)", "tag 0, 3 fields .1 …", "float"];
        assert_eq!(shapes, [(80, steps.map(String::from).to_vec())]);
    });
}

#[test]
fn very_long_paths_are_told_from_both_ends() {
    let known = known(20_000);
    with(&known.model, |heap| {
        let target = number(&known.model, known.cells[19_990]);
        let path = path(heap, target).unwrap().unwrap();
        let elided = path.steps.iter().find(|step| step.name == "…").unwrap();
        let told: u64 = path.steps.iter().map(|step| step.times).sum();
        assert_eq!(told, 3 + 19_991);
        assert!(elided.times > 10_000);
        assert!(path.steps.iter().all(|step| step.dominates || step.name == "…"));
    });
}

#[test]
fn duplicate_strings_are_found() {
    with(&known(10).model, |heap| {
        let strings = strings(heap, 10).unwrap().unwrap();
        // Headers and padding are counted, as in all sizes.
        assert_eq!((strings.sums.strings, strings.sums.bytes), (10, Bytes(5 * 16 + 5 * 24)));
        assert_eq!((strings.sums.contents, strings.sums.repeated), (Bytes(5 * 4 + 5 * 10), 2));
        let odd = &strings.duplicates[0];
        assert_eq!((odd.start.as_str(), odd.times, odd.wasted), ("odd number", 5, Bytes(4 * 24)));
        assert_eq!(strings.sums.wasted, Bytes(4 * 24 + 4 * 16));
    });
}

#[test]
fn what_grew_is_told() {
    let models = [known(3), known(5), known(9)];
    with(&models[0].model, |before| {
        with(&models[2].model, |after| {
            let difference = {
                let [before, after] = [before, after].map(|heap| Summary::complete(heap).unwrap());
                diff(&before, &after)
            };
            assert_eq!(difference.kinds[0].name, "tag 0, 2 fields");
            assert_eq!(difference.kinds[0].blocks, Some([3, 9]));
            let is_field = |root: &Change| root.name == "Feed / field 1";
            let field = difference.roots.iter().find(|root| is_field(root)).unwrap();
            assert_eq!(field.kind.as_deref(), Some("global"));
            let owner = difference.owners.iter().find(|root| is_field(root)).unwrap();
            // The frame's pair is the same; all else that is new is the variable's.
            let grown = |change: &Change| change.bytes[1].0 - change.bytes[0].0;
            assert_eq!((difference.owners.len(), owner.kind.as_deref()), (1, Some("global")));
            assert_eq!(grown(owner), difference.bytes[1].0 - difference.bytes[0].0);
        });
    });
    let grown = grown_in(&[3, 5, 9], RootsBy::Owned);
    let field = grown.iter().find(|growth| growth.name == "Feed / field 1").unwrap();
    // The frame holds the last cell, which the variable owns.
    let text = |cell: usize| if cell.is_multiple_of(2) { 16 } else { 24 };
    let sizes = [3, 5, 9].map(|cells| Bytes((0..cells).map(|cell| 24 + text(cell)).sum()));
    assert_eq!(field.bytes, sizes);
    let grown = grown_in(&[3, 5, 9], RootsBy::Retained);
    let names: Vec<_> = grown.iter().map(|growth| growth.name.as_str()).collect();
    assert!(names.contains(&"string") && names.contains(&"Feed / field 1"), "{names:?}");
    assert!(!names.contains(&"float"));
}

/// Columns that compare with a baseline have what several roots retain jointly, too.
#[test]
fn what_is_retained_jointly_is_compared() {
    let models = [known(3), known(4)];
    let limits = JointLimits { of: None, min: Bytes(1), blocks: 0, roots: 0, cut: 0 };
    with(&models[0].model, |before| {
        with(&models[1].model, |after| {
            let mut expected: BTreeMap<(String, String), [Bytes; 2]> = BTreeMap::new();
            for (side, heap) in [before, after].into_iter().enumerate() {
                for share in joint_shares(heap, limits).unwrap() {
                    let (kind, name) = stored_root(heap, share.root);
                    expected.entry((kind.to_owned(), name)).or_default()[side] = share.retained;
                }
            }
            expected.retain(|_, [before, after]| before != after);
            let summaries = [before, after].map(|heap| Summary::complete(heap).unwrap());
            let difference = diff(&summaries[0], &summaries[1]);
            let key = |change: &Change| (change.kind.clone().unwrap(), change.name.clone());
            let found: BTreeMap<_, _> =
                difference.joint.iter().map(|change| (key(change), change.bytes)).collect();
            // The last cell's text, which is longer in one of the two.
            assert!(!expected.is_empty());
            assert_eq!(found, expected);
        });
    });
}

fn grown_in(cells: &[usize], by: RootsBy) -> Vec<Growth> {
    let summaries: Vec<Summary> = cells
        .iter()
        .map(|cells| with(&known(*cells).model, |heap| Summary::new(heap).unwrap()))
        .collect();
    growth(&summaries, by)
}

#[test]
fn a_module_that_is_smaller_now_and_then_has_grown() {
    let named = |cells: &[usize]| {
        let grown = grown_in(cells, RootsBy::Retained);
        grown.into_iter().find(|growth| growth.name == "Feed / field 1")
    };
    let growth = named(&[3, 90, 170, 240, 30, 380, 460, 520, 600, 50, 750, 810]).unwrap();
    assert_eq!(growth.bytes.len(), 12);
    // From 90 to 750 cells, each of three words and a string of two or three.
    assert!(growth.is_root && (660 * 40..660 * 56).contains(&growth.grown.0), "{growth:?}");
    assert!(named(&[3, 90, 3, 90, 3, 90, 3, 90, 3, 95]).is_none());
}

#[test]
fn an_index_read_again_says_the_same() {
    let known = known(1000);
    let bytes = known.model.bytes();
    let snapshot = Snapshot::read(&bytes).unwrap();
    let graph = Graph::new(&snapshot, 1).unwrap();
    let mut index = Vec::new();
    graph.write_index(&snapshot, &mut index).unwrap();
    let again = Graph::read_index(&snapshot, &index).unwrap();
    for block in (0..snapshot.blocks()).map(BlockIndex) {
        assert_eq!(graph.dominator(Node::Block(block)), again.dominator(Node::Block(block)));
        assert_eq!(graph.retained(block), again.retained(block));
        assert_eq!(graph.toward_root(block), again.toward_root(block));
        assert_eq!(graph.external(block), again.external(block));
    }
    let root_nodes = [again.root_nodes().label(known.field)];
    assert_eq!(graph.reach(&root_nodes).words, again.reach(&root_nodes).words);
    let file = std::env::temp_dir().join(format!("index-{}", std::process::id()));
    std::fs::write(&file, &index).unwrap();
    let mapped = Graph::open_index(&snapshot, &file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(mapped.is_of_index() && !graph.is_of_index());
    // Its pages come back.
    mapped.give_back();
    for block in (0..snapshot.blocks()).map(BlockIndex) {
        assert_eq!(graph.dominator(Node::Block(block)), mapped.dominator(Node::Block(block)));
        assert_eq!(graph.retained(block), mapped.retained(block));
        assert_eq!(graph.external(block), mapped.external(block));
        assert_eq!(graph.toward_root(block), mapped.toward_root(block));
    }
    assert_eq!(graph.reach(&root_nodes).words, mapped.reach(&root_nodes).words);

    // Of another snapshot, damaged, or cut off: not read.
    let other = self::known(999).model.bytes();
    assert!(Graph::read_index(&Snapshot::read(&other).unwrap(), &index).is_none());
    for at in [30, index.len() / 2, index.len() - 1] {
        let mut damaged = index.clone();
        damaged[at] ^= 1;
        assert!(Graph::read_index(&snapshot, &damaged).is_none());
        assert!(Graph::read_index(&snapshot, &index[..at]).is_none());
    }
}

/// Blocks in slots, as OCaml 5 has them, have their addresses and the padding between.
#[test]
fn addresses_come_back() {
    for slots in [false, true] {
        let mut model = Model::new();
        model.slots = slots;
        let first = model.block(0, &[Value::Int(1)]);
        let second = model.block(0, &[Value::Block(first), Value::Int(0)]);
        model.root(RootKind::GlobalC, "c", Value::Block(second), Strength::Strong);
        let bytes = model.bytes();
        let snapshot = Snapshot::read(&bytes).unwrap();
        let mut columns = memtrail_heap::read::Columns::new();
        snapshot.decode(0, &mut columns).unwrap();
        let addresses: Vec<Address> = columns.addresses().collect();
        let apart = if slots { 96 } else { 16 };
        assert_eq!(addresses[1].0 - addresses[0].0, apart);
        assert_eq!(columns.get(1).unwrap().targets, [0]);
    }
}
