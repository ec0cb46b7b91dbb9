//! Structures of the standard library that are recognised by their contents, each with another that looks
//! nearly the same and is not.

mod known;

use std::collections::HashMap;

use memtrail_heap::contents::{Structure, Structures, types_by_contents};
use memtrail_heap::model::{Heap, Made, Value};
use memtrail_heap::query::{self, Catalogue, Path};
use memtrail_heap::read::{Snapshot, Strength};
use memtrail_heap::write::Space;
use memtrail_heap::{
    BlockIndex, BlockType, BlockTypeId, BlockTypes, Derivation, FieldNames, RootKind, tag,
};
use proptest::prelude::*;

const EMPTY: Value = Value::Int(0);

/// The type of each block of a heap; empty if it has none.
fn types(heap: &mut Heap) -> Vec<String> {
    for made in 0..heap.len() {
        // Static blocks are in the snapshot only if something points to them.
        heap.root(RootKind::Global, "all", Value::Block(Made(made)), Strength::Strong);
    }
    let bytes = heap.bytes();
    let snapshot = Snapshot::read(&bytes).unwrap();
    let types = types_by_contents(&snapshot, 2).unwrap();
    let text =
        |number: &u32| types.of(BlockIndex(*number)).map_or_else(String::new, BlockType::text);
    heap.numbers().iter().map(text).collect()
}

/// A cell for each value, the first first.
fn list(heap: &mut Heap, values: &[Value]) -> Vec<Made> {
    let mut next = EMPTY;
    let mut cells: Vec<Made> = Vec::new();
    for value in values.iter().rev() {
        let cell = heap.block(0, &[*value, next]);
        next = Value::Block(cell);
        cells.push(cell);
    }
    cells.reverse();
    cells
}

fn strings(heap: &mut Heap, count: usize) -> Vec<Value> {
    (0..count).map(|number| Value::Block(heap.string(format!("{number}").as_bytes()))).collect()
}

#[test]
fn lists_are_recognised_behind_their_first_cell() {
    let mut heap = Heap::new();
    let values = strings(&mut heap, 4);
    let cells = list(&mut heap, &values);
    let numbers = list(&mut heap, &[EMPTY; 3]);
    let types = types(&mut heap);
    let of = |cells: &[Made]| cells.iter().map(|cell| types[cell.0].clone()).collect::<Vec<_>>();
    assert_eq!(of(&cells), ["", "~ list (::)", "~ list (::)", "~ list (::)"]);
    assert_eq!(of(&numbers), ["", "~ list (::)", "~ list (::)"]);
}

#[test]
fn short_lists_pairs_and_what_ends_otherwise_are_no_lists() {
    let mut heap = Heap::new();
    let some = strings(&mut heap, 2);
    // [a; b], and the pair of a number and that.
    let short = list(&mut heap, &some);
    let number = heap.block(tag::DOUBLE, &[Value::Raw(0)]);
    heap.block(0, &[Value::Block(number), Value::Block(short[0])]);
    // Ends in a string.
    let pair = heap.block(0, &[some[0], some[1]]);
    let pair = heap.block(0, &[some[0], Value::Block(pair)]);
    let pair = heap.block(0, &[some[0], Value::Block(pair)]);
    heap.block(0, &[some[0], Value::Block(pair)]);
    // Circular.
    let circle = list(&mut heap, &[some[0]; 5]);
    heap.set(circle[4], 1, Value::Block(circle[0]));
    // The cells are of another constructor.
    let mut next = EMPTY;
    for _ in 0..5 {
        next = Value::Block(heap.block(1, &[some[0], next]));
    }
    // A list of pairs of a number and a list.
    let some_list = list(&mut heap, &some);
    let dynamic = heap.block(0, &[EMPTY, Value::Block(some_list[0])]);
    heap.block(0, &[some[0], Value::Block(dynamic)]);
    // A pair of a block and an array of two numbers, at the end of another.
    let array = heap.block(0, &[EMPTY, EMPTY]);
    let single = heap.block(0, &[some[0]]);
    let pair = heap.block(0, &[Value::Block(single), Value::Block(array)]);
    heap.block(0, &[Value::Block(single), Value::Block(pair)]);
    // Nested pairs of values of different sorts.
    let inner = heap.block(0, &[Value::Block(number), EMPTY]);
    let inner = heap.block(0, &[some[0], Value::Block(inner)]);
    let inner = heap.block(0, &[EMPTY, Value::Block(inner)]);
    heap.block(0, &[some[0], Value::Block(inner)]);
    assert!(types(&mut heap).iter().all(String::is_empty));
}

/// Containers left out the first cell of every list, as it may be a pair.
#[test]
fn containers_of_lists_have_their_first_cell() {
    let mut heap = Heap::new();
    let values = strings(&mut heap, 12);
    // Nothing else leads to the others; the type says so; the type says that it is a pair; it leads to cells that
    // another one leads to, too.
    let [alone, declared, pair, shared] = [(); 4].map(|()| list(&mut heap, &values));
    let other = heap.block(0, &[values[0], Value::Block(shared[1])]);
    for first in [alone[0], declared[0], pair[0], shared[0], other] {
        heap.root(RootKind::Global, "held", Value::Block(first), Strength::Strong);
    }
    let bytes = heap.bytes();
    let snapshot = Snapshot::read(&bytes).unwrap();
    let number = |made: Made| BlockIndex(heap.numbers()[made.0]);
    let ty = |name: &str, constructor: Option<&str>| BlockType {
        name: name.into(),
        constructor: constructor.map(Into::into),
        fields: FieldNames::None,
        derivation: Derivation::Variable,
    };
    let mut of = vec![BlockTypeId(0); snapshot.blocks() as usize];
    of[number(declared[0]).0 as usize] = BlockTypeId(1);
    of[number(pair[0]).0 as usize] = BlockTypeId(2);
    let declared_types = vec![ty("string list", Some("::")), ty("string * string list", None)];
    let mut structures = Structures::new(&snapshot, 1).unwrap();
    structures.add_first_cells(&BlockTypes::new(of, declared_types));
    let entries = |first: BlockIndex| {
        let mut entries = 0;
        structures.each_entry(first, Structure::List, |_| entries += 1);
        entries
    };
    let mut lists: Vec<(BlockIndex, u64)> =
        structures.all().into_iter().map(|(first, _)| (first, entries(first))).collect();
    let mut expected = vec![
        (number(alone[0]), 12),
        (number(declared[0]), 12),
        (number(pair[1]), 11),
        (number(shared[1]), 11),
    ];
    lists.sort_unstable();
    expected.sort_unstable();
    assert_eq!(lists, expected);
}

#[test]
fn queues_are_recognised_by_their_last_cell() {
    let mut heap = Heap::new();
    let values = strings(&mut heap, 3);
    let cells = list(&mut heap, &values);
    let queue = heap.block(0, &[Value::Int(3), Value::Block(cells[0]), Value::Block(cells[2])]);
    // It points to the cell before the last one.
    let others = list(&mut heap, &values);
    let record = heap.block(0, &[Value::Int(3), Value::Block(others[0]), Value::Block(others[1])]);
    // It has the same list of one cell twice.
    let single = list(&mut heap, &values[..1]);
    let twice = heap.block(0, &[Value::Int(1), Value::Block(single[0]), Value::Block(single[0])]);
    let types = types(&mut heap);
    assert_eq!(types[queue.0], "~ Queue.t");
    assert!(cells.iter().all(|cell| types[cell.0] == "~ Queue.t (Cons)"));
    assert_eq!([&types[record.0], &types[twice.0]], ["", ""]);
    assert_eq!(types[others[1].0], "~ list (::)");
}

/// A balanced tree of nodes with these values; the left and the right subtree come first and behind them.
fn tree(heap: &mut Heap, values: &[Value], per_node: usize) -> (Value, i64) {
    let nodes = values.len() / per_node;
    if nodes == 0 {
        return (EMPTY, 0);
    }
    let middle = nodes / 2 * per_node;
    let (left, lower) = tree(heap, &values[..middle], per_node);
    let (right, higher) = tree(heap, &values[middle + per_node..], per_node);
    let height = lower.max(higher) + 1;
    let mut fields = vec![left];
    fields.extend(&values[middle..middle + per_node]);
    fields.extend([right, Value::Int(height)]);
    (Value::Block(heap.block(0, &fields)), height)
}

fn made(value: Value) -> Made {
    match value {
        Value::Block(made) => made,
        _ => panic!("{value:?} is no block"),
    }
}

#[test]
fn balanced_trees_are_maps_and_sets() {
    for (per_node, name) in [(2, "~ Map.t (Node)"), (1, "~ Set.t (Node)")] {
        let mut heap = Heap::new();
        let values = strings(&mut heap, 20);
        let before = heap.len();
        let (root, _) = tree(&mut heap, &values, per_node);
        // A record with the tree and as many fields as a node.
        let mut fields = vec![root];
        fields.extend(vec![values[0]; per_node]);
        fields.extend([EMPTY, Value::Int(3)]);
        let record = heap.block(0, &fields);
        let types = types(&mut heap);
        assert!(types[before..record.0].iter().all(|of| of == name), "{types:?}");
        assert_eq!(types[record.0], "");
    }
}

#[test]
fn trees_that_are_unbalanced_or_whose_last_field_is_a_pointer_are_none() {
    let mut heap = Heap::new();
    let values = strings(&mut heap, 2);
    let mut left = EMPTY;
    for _ in 0..10 {
        let leaf = heap.block(0, &[EMPTY, values[0], values[1], EMPTY, Value::Int(1)]);
        left =
            Value::Block(heap.block(0, &[left, values[0], values[1], Value::Block(leaf), EMPTY]));
    }
    // The lower ones are balanced, as are subtrees of any tree.
    let high = made(left);
    let mut heights = vec![EMPTY; 2];
    for _ in 0..4 {
        let node = heap.block(0, &[heights[0], values[0], values[1], heights[1], values[0]]);
        heights = vec![Value::Block(node); 2];
    }
    let last = made(heights[0]);
    // Keys of two sorts.
    let float = Value::Block(heap.block(tag::DOUBLE, &[Value::Raw(0)]));
    let leaf =
        |heap: &mut Heap, key| Value::Block(heap.block(0, &[EMPTY, key, EMPTY, Value::Int(1)]));
    let (one, other) = (leaf(&mut heap, float), leaf(&mut heap, values[0]));
    let mixed = heap.block(0, &[one, float, other, Value::Int(2)]);
    let types = types(&mut heap);
    assert_eq!([&types[high.0], &types[last.0], &types[mixed.0]], ["", "", ""]);
}

/// A hash table with `room` buckets and as many entries as there are keys, and its blocks.
fn table(heap: &mut Heap, room: usize, keys: &[Value]) -> (Made, Made, Vec<Made>) {
    let mut buckets = vec![EMPTY; room];
    let mut cells = Vec::new();
    for (number, key) in keys.iter().enumerate() {
        let bucket = &mut buckets[number * 7 % room];
        let cell = heap.block(0, &[*key, Value::Int(5), *bucket]);
        *bucket = Value::Block(cell);
        cells.push(cell);
    }
    let data = heap.block(0, &buckets);
    let entries = Value::Int(keys.len() as i64);
    let table = heap.block(0, &[entries, Value::Block(data), EMPTY, Value::Int(room as i64)]);
    (table, data, cells)
}

#[test]
fn hash_tables_are_recognised_by_their_buckets() {
    let mut heap = Heap::new();
    let keys = strings(&mut heap, 40);
    let full = table(&mut heap, 32, &keys);
    let empty = table(&mut heap, 16, &[]);
    // More entries than a table ever has, and a number of buckets that none has.
    let crowded = table(&mut heap, 16, &keys);
    let odd = table(&mut heap, 24, &keys);
    // The chains end in something else.
    let other = table(&mut heap, 32, &keys[..4]);
    heap.set(other.2[0], 2, keys[0]);
    // A record with an array that is a table's of its own.
    let record = heap.block(0, &[Value::Int(1), Value::Block(full.1), keys[0], EMPTY]);
    let types = types(&mut heap);
    for (table, data, cells) in [&full, &empty] {
        assert_eq!(types[table.0], "~ Hashtbl.t");
        assert_eq!(types[data.0], "~ Hashtbl.t (buckets)");
        assert!(cells.iter().all(|cell| types[cell.0] == "~ Hashtbl.t (Cons)"));
    }
    for (table, data, cells) in [&crowded, &odd, &other] {
        assert_eq!([&types[table.0], &types[data.0]], ["", ""]);
        assert!(cells.iter().all(|cell| types[cell.0].is_empty()));
    }
    assert_eq!(types[record.0], "");
}

/// Tables of `Ephemeron` were taken for those of `Hashtbl`.
#[test]
fn tables_of_ephemerons_are_no_hash_tables() {
    let mut heap = Heap::new();
    let values = strings(&mut heap, 40);
    // A table of what `container` makes of each value.
    let of = |heap: &mut Heap, container: &dyn Fn(&mut Heap, Value) -> Value| {
        let (made, data, cells) = table(heap, 32, &[EMPTY; 40]);
        for (cell, value) in cells.iter().zip(&values) {
            let container = container(heap, *value);
            heap.set(*cell, 1, container);
        }
        (made, data, cells)
    };
    let ephemeron =
        |heap: &mut Heap, value, data| Value::Block(heap.ephemeron(data, &[Some(value)]));
    let live = of(&mut heap, &|heap, value| ephemeron(heap, value, Some(value)));
    // Of these none has data: weak arrays by number are a hash table's, ephemerons without data may be both's.
    let weak = of(&mut heap, &|heap, value| ephemeron(heap, value, None));
    // Strings as keys: only `Hashtbl` has them.
    let keyed = of(&mut heap, &|heap, value| ephemeron(heap, value, Some(value)));
    for (cell, key) in keyed.2.iter().zip(&values) {
        heap.set(*cell, 0, *key);
    }
    let types = types(&mut heap);
    assert_eq!(types[live.0.0], "~ Ephemeron.S.t");
    assert_eq!(types[live.1.0], "~ Ephemeron.S.t (buckets)");
    assert!(live.2.iter().all(|cell| types[cell.0] == "~ Ephemeron.S.t (Cons)"));
    assert_eq!(types[weak.0.0], "");
    assert!(weak.2.iter().all(|cell| types[cell.0].is_empty()));
    assert_eq!(types[keyed.0.0], "~ Hashtbl.t");
}

/// The containers on the path from a root to a block: structure, entries, and how many blocks of it the path leads
/// over; and the path in one line.
fn folded(heap: &mut Heap, root: Value, target: Value) -> (Vec<(&'static str, u64, u64)>, String) {
    heap.root(RootKind::Global, "held", root, Strength::Strong);
    let bytes = heap.bytes();
    let mut analysed = query::Heap::new(Snapshot::read(&bytes).unwrap(), 1).unwrap();
    analysed.recognise().unwrap();
    let target = BlockIndex(heap.numbers()[made(target).0]);
    let mut path = query::path(&analysed, target).unwrap().unwrap();
    let unfolded = path.clone();
    let mut structures = Structures::new(&analysed.snapshot, 1).unwrap();
    structures.add_first_cells(&analysed.types);
    let catalogue = Catalogue::new(&analysed).unwrap();
    assert!(query::may_fold(&analysed, std::slice::from_ref(&path)));
    query::fold_containers(&analysed, &structures, &catalogue, std::slice::from_mut(&mut path));
    let blocks = |path: &Path| path.steps.iter().filter(|step| step.block.is_some()).count();
    let containers: Vec<_> = path.steps.iter().filter_map(|step| step.container).collect();
    // No block is lost: each is in one step, alone or with those of its container.
    let all: u64 = path
        .steps
        .iter()
        .filter(|step| step.block.is_some())
        .map(|step| step.container.map_or(step.times, |container| container.blocks))
        .sum();
    let unfolded_steps = unfolded.steps.iter().filter(|step| step.block.is_some());
    assert_eq!(all, unfolded_steps.map(|step| step.times).sum::<u64>());
    assert!(blocks(&path) <= blocks(&unfolded));
    assert_eq!(path.steps.last(), unfolded.steps.last());
    let of = containers.iter().map(|one| (one.structure, one.entries, one.blocks));
    (of.collect(), path.text)
}

#[test]
fn paths_through_a_container_have_one_step_for_it() {
    let mut heap = Heap::new();
    let keys = strings(&mut heap, 40);
    let (table, ..) = table(&mut heap, 32, &keys);
    let table = Value::Block(table);
    // The last key with the same remainder is the first of its chain.
    let (of, text) = folded(&mut heap, table, keys[39]);
    assert_eq!((of, text.as_str()), (vec![("hashtbl", 40, 3)], "held.(40 entries) → string"));
    let mut heap = Heap::new();
    let values = strings(&mut heap, 40);
    let cells = list(&mut heap, &values);
    // The first cell may be a pair, but nothing else leads to the others.
    let (of, _) = folded(&mut heap, Value::Block(cells[0]), values[30]);
    assert_eq!(of, [("list", 40, 31)]);
}

#[test]
fn containers_in_containers_have_steps_of_their_own() {
    let mut heap = Heap::new();
    let inner = strings(&mut heap, 15);
    let (set, _) = tree(&mut heap, &inner, 1);
    let mut fields = strings(&mut heap, 30);
    // A map of sets: those beside it are of one element each.
    for value in fields.iter_mut().skip(1).step_by(2) {
        let element = Value::Block(heap.string(b"x"));
        *value = Value::Block(heap.block(0, &[EMPTY, element, EMPTY, Value::Int(1)]));
    }
    fields[29] = set;
    let (map, _) = tree(&mut heap, &fields, 2);
    let (of, _) = folded(&mut heap, map, inner[0]);
    assert_eq!(of.iter().map(|one| (one.0, one.1)).collect::<Vec<_>>(), [("map", 15), ("set", 15)]);
    // The target stays a step, though it is a part of the container.
    let (of, _) = folded(&mut heap, map, set);
    assert_eq!(of.iter().map(|one| one.0).collect::<Vec<_>>(), ["map"]);
}

#[test]
fn buffers_are_recognised_by_the_lengths_of_their_bytes() {
    let mut heap = Heap::new();
    let bytes = |heap: &mut Heap, length| Value::Block(heap.string(&vec![b'x'; length]));
    let first = bytes(&mut heap, 1024);
    let grown = bytes(&mut heap, 8192);
    let three_times = bytes(&mut heap, 3000);
    let plain = |heap: &mut Heap, bytes, first| heap.block(0, &[bytes, EMPTY, EMPTY, first]);
    let nested = |heap: &mut Heap, bytes, first| {
        let inner = heap.block(0, &[bytes, EMPTY]);
        (heap.block(0, &[Value::Block(inner), EMPTY, first]), inner)
    };
    let yes = [plain(&mut heap, first, first), plain(&mut heap, grown, first)];
    let (in_5_2, inner) = nested(&mut heap, grown, first);
    let no = [
        plain(&mut heap, three_times, first),
        plain(&mut heap, three_times, three_times),
        plain(&mut heap, first, grown),
        nested(&mut heap, three_times, first).0,
    ];
    let types = types(&mut heap);
    assert!(yes.iter().chain([&in_5_2]).all(|buffer| types[buffer.0] == "~ Buffer.t"));
    assert_eq!(types[inner.0], "~ Buffer.t (inner)");
    assert!(no.iter().all(|record| types[record.0].is_empty()));
}

#[test]
fn arrays_have_many_elements_of_one_sort() {
    let mut heap = Heap::new();
    let texts = strings(&mut heap, 50);
    let of_strings = heap.block(0, &texts);
    let of_numbers = heap.block(0, &[Value::Int(1); 50]);
    let some = heap.block(0, &[texts[0]]);
    let mut options = vec![Value::Block(some); 49];
    options.push(EMPTY);
    let of_options = heap.block(0, &options);
    let small = heap.block(0, &texts[..20]);
    let mut mixed = texts;
    mixed[7] = Value::Block(some);
    let record = heap.block(0, &mixed);
    mixed[7] = EMPTY;
    let with_number = heap.block(0, &mixed);
    // The block of a module, whose fields are roots.
    let module = heap.block_in(Space::Static, 0, &[EMPTY; 60]);
    let unit = heap.root(RootKind::Global, "Unit", mixed[0], Strength::Strong);
    heap.root_at(unit, mixed[0], Strength::Strong, Some((module, 3)));
    let types = types(&mut heap);
    for array in [of_strings, of_numbers, of_options] {
        assert_eq!(types[array.0], "~ array");
    }
    for other in [small, record, with_number, module] {
        assert_eq!(types[other.0], "");
    }
}

/// Cells that are recognised as those of lists, found one by one: those behind a cell from which three or more
/// lead to an immediate, if the values of three in a row are of one form.
fn cells_slowly(fields: &[[Option<usize>; 2]]) -> Vec<bool> {
    let mut is_cell = vec![false; fields.len()];
    let form =
        |cell: usize| fields[cell][0].map(|value| fields[value].map(|field| field.is_some()));
    for start in 0..fields.len() {
        let mut way = vec![start];
        while let Some(next) = fields[way[way.len() - 1]][1] {
            way.push(next);
            if way.len() > fields.len() {
                break;
            }
        }
        if (3..=fields.len()).contains(&way.len())
            && form(way[0]) == form(way[1])
            && form(way[1]) == form(way[2])
        {
            way[1..].iter().for_each(|cell| is_cell[*cell] = true);
        }
    }
    is_cell
}

/// The height of a node if its tree is balanced, by recursion.
fn height(
    nodes: &HashMap<usize, [Option<usize>; 2]>,
    node: usize,
    above: &mut Vec<usize>,
) -> Option<u32> {
    if above.contains(&node) {
        return None;
    }
    above.push(node);
    let [left, right] =
        nodes[&node].map(|child| child.map_or(Some(0), |child| height(nodes, child, above)));
    above.pop();
    let (left, right) = (left?, right?);
    (left.abs_diff(right) <= 2).then_some(left.max(right) + 1)
}

fn mark(nodes: &HashMap<usize, [Option<usize>; 2]>, node: usize, is_node: &mut [bool]) {
    is_node[node] = true;
    nodes[&node].iter().flatten().for_each(|child| mark(nodes, *child, is_node));
}

/// Two references to one of some things, or to nothing.
fn links(count: usize) -> impl Strategy<Value = Vec<[Option<usize>; 2]>> {
    let one = || proptest::option::weighted(0.7, 0..count);
    proptest::collection::vec((one(), one()).prop_map(|(a, b)| [a, b]), count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn lists_are_those_that_are_found_one_by_one(fields in links(30)) {
        let mut heap = Heap::new();
        for _ in &fields {
            heap.block(0, &[EMPTY, EMPTY]);
        }
        for (cell, fields) in fields.iter().enumerate() {
            for (field, target) in fields.iter().enumerate() {
                let value = target.map_or(EMPTY, |target| Value::Block(Made(target)));
                heap.set(Made(cell), field, value);
            }
        }
        let is_cell: Vec<bool> = types(&mut heap).iter().map(|of| of == "~ list (::)").collect();
        prop_assert_eq!(is_cell, cells_slowly(&fields));
    }

    #[test]
    fn trees_are_those_that_are_found_by_recursion(fields in links(14)) {
        let mut heap = Heap::new();
        for _ in &fields {
            heap.block(0, &[EMPTY, EMPTY, EMPTY, EMPTY]);
        }
        for (node, [left, right]) in fields.iter().enumerate() {
            for (field, target) in [(0, left), (2, right)] {
                let value = target.map_or(EMPTY, |target| Value::Block(Made(target)));
                heap.set(Made(node), field, value);
            }
        }
        let nodes: HashMap<usize, [Option<usize>; 2]> = fields.iter().copied().enumerate().collect();
        let mut expected = vec![false; fields.len()];
        for (node, children) in &nodes {
            if children.iter().all(Option::is_some) && height(&nodes, *node, &mut Vec::new()).is_some() {
                mark(&nodes, *node, &mut expected);
            }
        }
        let is_node: Vec<bool> = types(&mut heap).iter().map(|of| of == "~ Set.t (Node)").collect();
        prop_assert_eq!(is_node, expected);
    }
}
