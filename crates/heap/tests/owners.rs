//! Owners of a heap that is known block by block: names, aliases, and what is shared with whom.

use memtrail_heap::graph::Graph;
use memtrail_heap::model::{Heap as Model, Made, Value};
use memtrail_heap::query::{
    Heap, OwnerRow, Owners, add_held_values, held_by_roots, held_by_stored, owner_details, owners,
};
use memtrail_heap::read::{Snapshot, Strength};
use memtrail_heap::write::{LabelRole, Space};
use memtrail_heap::{BlockIndex, Bytes, LabelId, RootKind, Variable, tag};

/// A unit `cache.ml` with a submodule `Store`: its variable `table`, a function that captures it, and the
/// submodule's block; a unit `Front` that is linked before and re-exports the table; a thread with a frame
/// that holds an entry of the table and a list of its own.
struct Known {
    model: Model,
    table: LabelId,
    reexported: LabelId,
    module: LabelId,
    find: LabelId,
    frame: LabelId,
}

fn field(model: &mut Model, unit: LabelId, block: Made, number: u64, value: Made) -> LabelId {
    let label = model.labels.add(Some(unit), RootKind::Global, LabelRole::Field, b"", b"", number);
    model.set(block, number as usize, Value::Block(value));
    model.root_at(label, Value::Block(value), Strength::Strong, Some((block, number)));
    label
}

fn known() -> Known {
    let mut model = Model::new();
    let front = model.block_in(Space::Static, 0, &[Value::Int(0)]);
    let cache = model.block_in(Space::Static, 0, &[Value::Int(0), Value::Int(0), Value::Int(0)]);
    let name = model.block_in(Space::Static, 0, &[Value::Int(1)]);
    let entries: Vec<Value> = (0..4)
        .map(|_| Value::Block(model.block(0, &[Value::Int(0), Value::Block(name)])))
        .collect();
    let table = model.block(0, &entries);
    let code = [Value::Raw(77), Value::Raw(1 << 56 | 2 << 1 | 1)];
    let own = model.block(0, &[Value::Int(3), Value::Int(4), Value::Int(5)]);
    let find = [code[0], code[1], Value::Block(table), Value::Block(own)];
    let find = model.block(tag::CLOSURE, &find);
    let module = model.block(0, &[Value::Block(table), Value::Block(find)]);
    let front_unit = model.labels.add(None, RootKind::Global, LabelRole::Unit, b"Front", b"", 0);
    let reexported = field(&mut model, front_unit, front, 0, table);
    let unit = model.labels.add(None, RootKind::Global, LabelRole::Unit, b"Cache", b"", 0);
    let find = field(&mut model, unit, cache, 0, find);
    let module = field(&mut model, unit, cache, 1, module);
    let table = field(&mut model, unit, cache, 2, table);
    let thread = model.labels.add(None, RootKind::Stack, LabelRole::Thread, b"", b"", 0);
    let frame =
        model.labels.add(Some(thread), RootKind::Stack, LabelRole::Frame, b"Main.f", b"main.ml", 3);
    let list = model.block(0, &[entries[1], Value::Int(0)]);
    model.root_at(frame, entries[0], Strength::Strong, None);
    model.root_at(frame, Value::Block(list), Strength::Strong, None);
    Known { model, table, reexported, module, find, frame }
}

fn with<R>(known: &Known, named: bool, ask: impl FnOnce(&Heap<'_>) -> R) -> R {
    let bytes = known.model.bytes();
    let mut heap = Heap::new(Snapshot::read(&bytes).unwrap(), 2).unwrap();
    let variables = [
        (known.table, "Store.table", "int array", "src/cache.ml:12"),
        (known.reexported, "table", "int array", "src/cache.ml:12"),
        (known.module, "Store", "module", "src/cache.ml:10"),
        (known.find, "Store.find", "int -> int", "src/cache.ml:13"),
    ];
    for (label, name, ty, position) in variables.into_iter().filter(|_| named) {
        let (name, ty, position) = (name.into(), ty.into(), Some(position.into()));
        heap.snapshot.labels.set_variable(label, Variable { name, ty, position });
    }
    ask(&heap)
}

fn row<'o>(owners: &'o Owners, name: &str) -> &'o OwnerRow {
    owners.rows.iter().find(|row| row.name() == name).unwrap_or_else(|| panic!("{owners:#?}"))
}

/// The table and its entries, with the static block that they share.
const TABLE: Bytes = Bytes(40 + 4 * 24 + 16);

#[test]
fn a_variable_owns_what_its_module_and_its_functions_reach_too() {
    let known = known();
    with(&known, true, |heap| {
        let owners = owners(heap, &[]);
        let table = row(&owners, "Cache.Store.table");
        assert_eq!((table.owned, table.retained), (TABLE, Bytes(40 + 2 * 24)));
        assert_eq!(table.position.as_deref(), Some("src/cache.ml:12"));
        assert_eq!(table.aliases, ["Front.table", "Cache.Store"]);
        // The closure, and what it alone captures.
        assert_eq!(row(&owners, "Cache.Store.find").owned, Bytes(40 + 32));
        assert_eq!(row(&owners, "Cache.Store").owned, Bytes(24));
        let frame = row(&owners, "thread 0 / Main.f (main.ml:3)");
        assert_eq!((frame.kind, frame.owned, frame.retained), ("stack", Bytes(24), Bytes(24)));
        let sum: Bytes = owners.rows.iter().map(|row| row.owned).sum();
        assert_eq!(
            (sum, owners.owned),
            (owners.owned, heap.graph.held(memtrail_heap::graph::SUPER_ROOT).bytes())
        );
        let shares: f64 = owners.rows.iter().map(|row| row.share).sum();
        assert!((shares - 1.0).abs() < 1e-9);
    });
}

/// Without names the root that was linked first has the row, whatever the order of fields.
#[test]
fn owners_without_names_are_the_same() {
    let known = known();
    let named = with(&known, true, |heap| heap.graph.owned());
    with(&known, false, |heap| {
        assert_eq!(heap.graph.owned(), named);
        let owners = owners(heap, &[]);
        let table = row(&owners, "Front / field 0");
        assert_eq!(table.owned, TABLE);
        assert_eq!(table.aliases, ["Cache / field 1", "Cache / field 2"]);
    });
}

/// Without names, closures tell what a variable holds: it was called `Cache / field 0` and nothing else.
#[test]
fn variables_without_a_name_say_what_they_hold() {
    let mut known = known();
    let model = &mut known.model;
    let unit = model.labels.add(None, RootKind::Global, LabelRole::Unit, b"Nested", b"", 0);
    let nested = model.block_in(Space::Static, 0, &[Value::Int(0); 5]);
    let code = [Value::Raw(77), Value::Raw(1 << 56 | 2 << 1 | 1)];
    let closure = model.block(tag::CLOSURE, &code);
    let pair = model.block(0, &[Value::Int(1), Value::Block(closure)]);
    let outer = model.block(0, &[Value::Int(2), Value::Block(pair)]);
    field(model, unit, nested, 0, outer);
    let mut string = |words: u64| {
        let raw: Vec<Value> = (0..words).map(|_| Value::Raw(0)).collect();
        Value::Block(model.block(tag::STRING, &raw))
    };
    let texts = [string(2), Value::Int(1), string(9)];
    let tables = [5, 5, 5, 70, 70, 1, 1, 1, 1, 1, 1].map(&mut string);
    let name = string(3);
    let texts = model.block(0, &texts);
    let tables = model.block(0, &tables);
    let around = model.block(0, &[Value::Block(texts)]);
    let Value::Block(name) = name else { panic!("a block") };
    for (number, block) in (1..).zip([texts, tables, around, name]) {
        field(model, unit, nested, number, block);
    }
    let bytes = known.model.bytes();
    let mut heap = Heap::new(Snapshot::read(&bytes).unwrap(), 2).unwrap();
    let [find] = heap.snapshot.functions.as_mut_slice() else { panic!("one function") };
    (find.name, find.file, find.line) = (b"Cache.Store.find".into(), b"cache.ml".into(), 13);
    let mut rows = owners(&heap, &[]).rows;
    add_held_values(&heap, &mut rows).unwrap();
    let holds = |name: &str| rows.iter().find(|row| row.name() == name).unwrap().holds.as_deref();
    assert_eq!(holds("Cache / field 0"), Some("closure Cache.Store.find cache.ml:13"));
    let module = "a block with closure Cache.Store.find cache.ml:13";
    assert_eq!(holds("Cache / field 1"), Some(module));
    assert_eq!(holds("Front / field 0"), None, "it has no closures");
    let nested = "a block that leads to closure Cache.Store.find cache.ml:13";
    assert_eq!(holds("Nested / field 0"), Some(nested));
    assert_eq!(holds("Nested / field 1"), Some("a block with 2 strings"));
    assert_eq!(holds("Nested / field 2"), Some("~ Lexing.lex_tables"));
    assert_eq!(holds("Nested / field 3"), Some("a block that leads to strings"));
    assert_eq!(holds("Nested / field 4"), Some("string"));
    // Comparisons of snapshots know the same by the names in summaries, and others by roots: growth and
    // containers said `Cache / field 0` and nothing else.
    let wanted = ["Cache / field 0", "Nested / field 4", "Front / field 7"].into();
    let by_name = held_by_stored(&heap, &wanted).unwrap();
    assert_eq!(by_name.len(), 2);
    let roots: Vec<_> = rows.iter().map(|row| row.root).collect();
    let by_root = held_by_roots(&heap, &roots).unwrap();
    for row in &rows {
        assert_eq!(by_root.get(&row.root), row.holds.as_ref(), "{}", row.name());
        if wanted.contains(row.name().as_str()) {
            assert_eq!(by_name.get(&row.name()), row.holds.as_ref(), "{}", row.name());
        }
    }
    heap.snapshot.labels.set_variable(
        known.find,
        Variable { name: "Store.find".into(), ty: "int -> int".into(), position: None },
    );
    let mut rows = owners(&heap, &[]).rows;
    add_held_values(&heap, &mut rows).unwrap();
    let wanted = ["Cache / field 0"].into();
    assert!(held_by_stored(&heap, &wanted).unwrap().is_empty(), "it has a name");
    let named = rows.iter().find(|row| row.name() == "Cache.Store.find").unwrap();
    assert_eq!(named.holds, None, "it has a name");
}

/// With flambda the cells of a list were one owner each, if the compiler had made a symbol for each.
#[test]
fn parts_of_an_operations_result_belong_to_the_whole() {
    let mut model = Model::new();
    let unit = model.labels.add(None, RootKind::Global, LabelRole::Unit, b"Parse", b"", 0);
    let symbol = |model: &mut Model, name: &str, value: Made| {
        let name = name.as_bytes();
        let label = model.labels.add(Some(unit), RootKind::Global, LabelRole::Symbol, name, b"", 0);
        model.root_at(label, Value::Block(value), Strength::Strong, None);
    };
    let array = model.block(0, &[Value::Int(1); 30]);
    symbol(&mut model, "Pduparray_1", array);
    let last = model.block(0, &[Value::Block(array), Value::Int(0)]);
    symbol(&mut model, "Pmakeblock_2", last);
    let first = model.block(0, &[Value::Int(1), Value::Block(last)]);
    symbol(&mut model, "Pmakeblock_3", first);
    let named = model.block(0, &[Value::Int(4), Value::Int(5)]);
    symbol(&mut model, "Pmakeblock_4", named);
    let table = model.block(0, &[Value::Block(named)]);
    symbol(&mut model, "table_5", table);
    let bytes = model.bytes();
    let heap = Heap::new(Snapshot::read(&bytes).unwrap(), 2).unwrap();
    let rows = owners(&heap, &[]).rows;
    let rows: Vec<_> = rows.iter().map(|row| (row.name(), row.owned)).collect();
    let expected = [("Parse / Pmakeblock_3", 37 * 8), ("Parse / table_5", 5 * 8)];
    assert_eq!(rows, expected.map(|(name, owned)| (name.to_owned(), Bytes(owned))));
}

#[test]
fn what_an_owner_shares_with_whom() {
    let known = known();
    with(&known, true, |heap| {
        let owners = owners(heap, &[]);
        let table = owner_details(heap, row(&owners, "Cache.Store.table"));
        assert_eq!(table.reachable, Bytes(TABLE.0 - 16), "static data is not followed");
        let parts = |parts: &[memtrail_heap::query::SharedPart]| -> Vec<(String, u64)> {
            parts.iter().map(|part| (part.name.clone(), part.bytes.0)).collect()
        };
        // The module's block is an alias.
        let frame = "thread 0 / Main.f (main.ml:3)";
        assert_eq!(
            parts(&table.reached_by_others),
            [("Cache.Store.find".into(), TABLE.0 - 16), (frame.into(), 48)]
        );
        assert_eq!(parts(&table.owned_by_others), []);
        let find = owner_details(heap, row(&owners, "Cache.Store.find"));
        assert_eq!(parts(&find.owned_by_others), [("Cache.Store.table".into(), TABLE.0 - 16)]);
        assert_eq!(parts(&find.reached_by_others), []);
        let frame = owner_details(heap, row(&owners, frame));
        assert_eq!((frame.reachable, frame.owned_by_others.len()), (Bytes(72), 1));
    });
}

/// Who asks for a root gets its row even if it owns nothing.
#[test]
fn roots_that_own_nothing_are_listed_when_they_are_asked_for() {
    let known = known();
    with(&known, true, |heap| {
        let table = heap.graph.root_nodes().label(known.table);
        let owners = owners(heap, &[table]);
        let rows: Vec<&OwnerRow> =
            owners.rows.iter().filter(|row| row.name() == "Cache.Store.table").collect();
        // It is an alias of the one that was linked first, under whose name both are shown.
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].root, table);
    });
    let _ = known.frame;
}

/// With flambda a value has a symbol, which names it where nothing is known of the module's field.
#[test]
fn a_symbol_names_what_a_field_without_a_name_holds() {
    let mut known = known();
    let unit = known.model.labels.add(None, RootKind::Global, LabelRole::Unit, b"Main", b"", 0);
    let block = known.model.block_in(Space::Static, 0, &[Value::Int(0)]);
    let value = known.model.block(0, &[Value::Int(7)]);
    field(&mut known.model, unit, block, 0, value);
    for name in ["Pmakeblock_7", "entries"] {
        let labels = &mut known.model.labels;
        let symbol =
            labels.add(Some(unit), RootKind::Global, LabelRole::Symbol, name.as_bytes(), b"", 0);
        known.model.root_at(symbol, Value::Block(value), Strength::Strong, None);
    }
    with(&known, true, |heap| {
        let owners = owners(heap, &[]);
        let aliases = &row(&owners, "Main / entries").aliases;
        assert_eq!(*aliases, ["Main / field 0", "Main / Pmakeblock_7"]);
    });
}

/// The runtime moves roots of C from one of its lists to another: what two of them reach over as many blocks stayed
/// with the one that was found first.
#[test]
fn owners_that_are_equally_near_do_not_change_with_the_order_of_roots() {
    let owned = |order: [&str; 2]| {
        let mut model = Model::new();
        let shared = model.block(0, &[Value::Int(1); 9]);
        for name in order {
            let held = model.block(0, &[Value::Block(shared)]);
            model.root(RootKind::GlobalC, name, Value::Block(held), Strength::Strong);
        }
        let bytes = model.bytes();
        let heap = Heap::new(Snapshot::read(&bytes).unwrap(), 2).unwrap();
        let owners = owners(&heap, &[]);
        ["cache", "table"].map(|name| row(&owners, name).owned)
    };
    assert_eq!(owned(["cache", "table"]), [Bytes(16 + 80), Bytes(16)]);
    assert_eq!(owned(["table", "cache"]), [Bytes(16 + 80), Bytes(16)]);
}

/// `Aaa.t := Some x; Bbb.t := Some y`, where both lead to the same array over one block each; garbage that refers to the
/// block on Aaa's way, too, made that way longer.
#[test]
fn garbage_does_not_decide_who_owns_live_data() {
    let owner_of_array = |garbage: bool| {
        let mut model = Model::new();
        let array = model.block(0, &[Value::Int(1); 8]);
        let x = model.block(0, &[Value::Block(array)]);
        let y = model.block(0, &[Value::Block(array)]);
        let [first, second] = [x, y].map(|block| model.block(0, &[Value::Block(block)]));
        if garbage {
            model.block(0, &[Value::Block(x)]);
        }
        model.root(RootKind::Global, "Aaa", Value::Block(first), Strength::Strong);
        model.root(RootKind::Global, "Bbb", Value::Block(second), Strength::Strong);
        let bytes = model.bytes();
        let snapshot = Snapshot::read(&bytes).unwrap();
        let graph = Graph::new(&snapshot, 1).unwrap();
        graph.owner(BlockIndex(model.numbers()[array.0]))
    };
    assert!(owner_of_array(false).is_some());
    assert_eq!(owner_of_array(true), owner_of_array(false));
}

/// Ephemerons whose keys are deep in a list: each way up was climbed again for each root that holds one.
#[test]
fn keys_of_ephemerons_deep_in_a_list_take_linear_time() {
    let count = 60_000;
    let mut model = Model::new();
    let (mut list, mut table) = (Value::Int(0), Value::Int(0));
    for number in 0..count {
        let key = model.block(0, &[Value::Int(number), list]);
        list = Value::Block(key);
        let data = model.block(0, &[Value::Int(number)]);
        let ephemeron = model.ephemeron(Some(Value::Block(data)), &[Some(list)]);
        table = Value::Block(model.block(0, &[Value::Block(ephemeron), table]));
    }
    let keys = model.root(RootKind::Global, "Keys", list, Strength::Strong);
    let tables = model.root(RootKind::Global, "Tables", table, Strength::Strong);
    let bytes = model.bytes();
    let snapshot = Snapshot::read(&bytes).unwrap();
    let graph = Graph::new(&snapshot, 1).unwrap();
    let held = |label| graph.held(graph.root_nodes().label(label)).0;
    let count = count as u64;
    assert_eq!(held(keys), count * (3 + 2));
    assert_eq!(held(tables), count * (3 + 4 + 2));
}

/// For each of its blocks the whole list was climbed: names of 240,000 untyped blocks took a minute.
#[test]
fn owners_of_all_blocks_of_a_list_take_linear_time() {
    let mut model = Model::new();
    let mut list = Value::Int(0);
    for number in 0..400_000 {
        list = Value::Block(model.block(0, &[Value::Int(number), list]));
    }
    model.root(RootKind::Global, "Aaa", list, Strength::Strong);
    let bytes = model.bytes();
    let snapshot = Snapshot::read(&bytes).unwrap();
    let graph = Graph::new(&snapshot, 1).unwrap();
    let mut owners = graph.owners_one_by_one();
    let first = owners.get(BlockIndex(0));
    assert!(first.is_some());
    for block in (0..400_000).map(BlockIndex) {
        assert_eq!(owners.get(block), first);
    }
}
