//! Files that are not as the writer left them: read as far as they are whole, or refused with where
//! and why.

use memtrail_heap::model::{BETWEEN, Heap, Made, PARTIAL, UNKNOWN, Value, shared};
use memtrail_heap::read::{Cause, Columns, ObjectName, Peek, Snapshot, Strength};
use memtrail_heap::redact::{Removed, redact};
use memtrail_heap::{Between, BlockIndex, LabelId, RootKind, VariablePlace, fuzz, tag};
use proptest::prelude::*;

/// A heap with something of everything.
fn heap(blocks: usize) -> Heap {
    let mut heap = Heap::new();
    heap.contents = true;
    heap.facts.program = b"program".to_vec();
    heap.facts.counters = vec![(b"minor_collections".to_vec(), 3)];
    let mut last = heap.string(b"the end");
    for block in 0..blocks {
        let text = heap.string(format!("cell {block}").as_bytes());
        last = heap.block(0, &[Value::Block(text), Value::Block(last), Value::Int(1)]);
    }
    let wide = heap.block(0, &vec![Value::Block(last); 70]);
    let info = Value::Raw(1 << 56 | 2 << 1 | 1);
    let closure = heap.block(tag::CLOSURE, &[Value::Raw(8), info, Value::Block(wide)]);
    let custom = heap.block(tag::CUSTOM, &[Value::Raw(16), Value::Raw(100)]);
    let stack = heap.block(tag::CONTINUATION, &[Value::Int(0), Value::Block(custom)]);
    let ephemeron = heap.ephemeron(Some(Value::Block(stack)), &[Some(Value::Block(closure))]);
    heap.root(RootKind::GlobalC, "cells", Value::Block(closure), Strength::Strong);
    heap.root(RootKind::Finaliser, "late", Value::Block(ephemeron), Strength::Finaliser);
    heap.sample(custom, 9);
    heap
}

/// Where sections start, after the header's eight bytes.
fn sections(bytes: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 8;
    while at < bytes.len() {
        starts.push(at);
        let stored = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap());
        at += 24 + stored as usize;
    }
    starts
}

#[test]
fn a_file_cut_off_anywhere_is_read_as_far_as_it_goes() {
    let bytes = heap(30).bytes();
    let whole = Snapshot::read(&bytes).unwrap();
    assert_eq!(whole.damage, None);
    for length in 0..bytes.len() {
        let cut = &bytes[..length];
        fuzz::read(cut);
        match Snapshot::read(cut) {
            Ok(cut) => {
                let damage = cut.damage.expect("damage of a file that is not whole");
                assert_eq!((damage.offset, damage.cause), (length as u64, Cause::Truncated));
                assert!(cut.blocks() <= whole.blocks());
            }
            Err(error) => assert!(error.offset <= length as u64, "{error}"),
        }
    }
}

#[test]
fn a_changed_byte_is_found_where_it_is() {
    let bytes = heap(30).bytes();
    let starts = sections(&bytes);
    for at in 8..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        fuzz::read(&changed);
        let section = *starts.iter().rfind(|start| **start <= at).unwrap();
        let error = match Snapshot::read(&changed) {
            Ok(snapshot) => snapshot.damage.expect("a checksum that does not match"),
            Err(error) => error,
        };
        // A length that was changed may reach beyond the end.
        assert!(
            error.offset == section as u64 || error.cause == Cause::Truncated,
            "{error} for {at}"
        );
    }
}

#[test]
fn what_is_no_snapshot_is_refused() {
    assert_eq!(Snapshot::read(b"").unwrap_err().cause, Cause::Magic);
    assert_eq!(Snapshot::read(b"\x7fELF").unwrap_err().cause, Cause::Magic);
    let mut later = heap(1).bytes();
    later[6] = 10;
    let error = Snapshot::read(&later).unwrap_err();
    assert_eq!(error.cause, Cause::Version(10));
    assert_eq!(
        error.to_string(),
        "at byte 6: heap snapshot of version 10, and this reader knows up to version 9"
    );
}

/// [`heap`] of 12 blocks, written when bytes outside could not be unknown.
#[test]
fn files_of_version_2_are_read() {
    let old = include_bytes!("fixtures/snapshot-v2.heap");
    assert_eq!(old[6..8], [2, 0]);
    let snapshot = Snapshot::read(old).unwrap();
    assert_eq!((snapshot.damage, snapshot.blocks()), (None, 30));
    let mut columns = Columns::new();
    snapshot.decode(0, &mut columns).unwrap();
    let outside: Vec<u64> = columns.customs().map(|(_, _, bytes)| bytes).collect();
    assert_eq!((outside, columns.unknown().count()), (vec![100], 0));
    assert_eq!(snapshot.roots.len(), 2);
    fuzz::read(old);
}

#[test]
fn memory_outside_that_is_shared_or_unknown_is_read_again() {
    let mut heap = heap(3);
    let mut views = Vec::new();
    for bytes in [5000, 7000, 5000] {
        views.push(heap.block(tag::CUSTOM, &[Value::Raw(16), Value::Raw(0), shared(bytes)]));
    }
    heap.block(tag::CUSTOM, &[Value::Raw(16), Value::Raw(UNKNOWN)]);
    let bytes = heap.bytes();
    let snapshot = Snapshot::read(&bytes).unwrap();
    assert_eq!(snapshot.blocks() as usize, heap.len() + 2);
    let mut columns = Columns::new();
    snapshot.decode(0, &mut columns).unwrap();
    let numbers = heap.numbers();
    let owner = |view: usize| columns.get(numbers[views[view].0] as usize).unwrap().targets[0];
    assert_eq!((owner(0), owner(1), owner(2)), (owner(0), owner(0) + 1, owner(0)));
    assert_eq!(owner(0) as usize, heap.len());
    let owned: Vec<_> = columns.customs().filter(|(place, ..)| *place >= heap.len()).collect();
    assert_eq!(owned, [(heap.len(), 1, 5000), (heap.len() + 1, 1, 7000)]);
    assert!(columns.get(heap.len()).unwrap().is_off_heap());
    assert_eq!(columns.addresses().last().unwrap().0, 7000 << 4);
    assert_eq!(snapshot.customs[1], b"memory");
    assert_eq!(columns.unknown().collect::<Vec<_>>(), [heap.len() - 1]);
    fuzz::read(&bytes);
}

#[test]
fn the_pause_is_inside_the_checksums() {
    let mut heap = heap(1);
    heap.facts.pause = 1_234_567;
    let bytes = heap.bytes();
    let snapshot = Snapshot::read(&bytes).unwrap();
    assert_eq!((snapshot.facts.pause, snapshot.damage), (1_234_567, None));
    assert_eq!(Peek::new(&bytes).unwrap().facts.pause, 1_234_567);
    // With any byte changed there is damage, and the pause is the right one or unknown.
    for at in 8..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x01;
        let read = Snapshot::read(&changed);
        assert!(read.as_ref().is_err() || read.as_ref().is_ok_and(|read| read.damage.is_some()));
        let pauses = [
            read.map_or(0, |snapshot| snapshot.facts.pause),
            Peek::new(&changed).map_or(0, |peek| peek.facts.pause),
        ];
        assert!(pauses.iter().all(|pause| [0, 1_234_567].contains(pause)), "{pauses:?} for {at}");
    }
    let cut = Snapshot::read(&bytes[..bytes.len() - 40]).unwrap();
    assert_eq!(cut.facts.pause, 0);
}

/// Functions had neither symbols nor columns, and ephemerons' data were set only if they were blocks.
#[test]
fn files_of_version_3_are_read() {
    let old = include_bytes!("fixtures/snapshot-v3.heap");
    assert_eq!(old[6..8], [3, 0]);
    let snapshot = Snapshot::read(old).unwrap();
    assert_eq!((snapshot.damage, snapshot.blocks()), (None, 14));
    let [function] = &snapshot.functions[..] else { panic!("{:?}", snapshot.functions) };
    assert_eq!((function.name.as_slice(), function.line), (&b"Module.f8"[..], 8));
    assert_eq!((function.symbol.as_slice(), function.column), (&b""[..], 0));
    assert!(!function.is_partial);
    let [ephemeron] = &snapshot.ephemerons[..] else { panic!("{:?}", snapshot.ephemerons) };
    assert!(ephemeron.has_data && ephemeron.data.is_some());
    let removed = Removed { contents: true, identity: true };
    let copy = redact(old, removed).unwrap();
    let copy = Snapshot::read(&copy).unwrap();
    assert_eq!((copy.damage, &copy.functions), (None, &snapshot.functions));
    assert_eq!(copy.ephemerons, snapshot.ephemerons);
    fuzz::read(old);
}

/// Functions had no lines between which they start.
#[test]
fn files_of_version_4_are_read() {
    let old = include_bytes!("fixtures/snapshot-v4.heap");
    assert_eq!(old[6..8], [4, 0]);
    let snapshot = Snapshot::read(old).unwrap();
    assert_eq!((snapshot.damage, snapshot.blocks()), (None, 2));
    let functions: Vec<_> = snapshot.functions.iter().collect();
    let [function, partial] = functions[..] else { panic!("{functions:?}") };
    assert_eq!((function.symbol.as_slice(), function.line), (&b"camlModule__f8_1"[..], 8));
    assert_eq!((function.column, function.is_partial, partial.is_partial), (4, false, true));
    assert!(functions.iter().all(|one| !one.is_start && one.between.is_none()));
    let copy = redact(old, Removed { contents: true, identity: true }).unwrap();
    let copy = Snapshot::read(&copy).unwrap();
    assert_eq!((copy.damage, &copy.functions), (None, &snapshot.functions));
    fuzz::read(old);
}

/// Keys of maps were not among the integers.
#[test]
fn files_of_version_5_are_read() {
    let old = include_bytes!("fixtures/snapshot-v5.heap");
    assert_eq!(old[6..8], [5, 0]);
    let snapshot = Snapshot::read(old).unwrap();
    assert_eq!((snapshot.damage, snapshot.blocks()), (None, 2));
    assert_eq!(snapshot.immediate(BlockIndex(0)), Some(963_043_958));
    assert_eq!(snapshot.immediate(BlockIndex(1)), None);
    let copy = redact(old, Removed { contents: true, identity: true }).unwrap();
    let copy = Snapshot::read(&copy).unwrap();
    assert_eq!((copy.damage, &copy.immediates), (None, &snapshot.immediates));
    fuzz::read(old);
}

/// Functions had no lines of the class that they were made for.
#[test]
fn files_of_version_6_are_read() {
    let old = include_bytes!("fixtures/snapshot-v6.heap");
    assert_eq!(old[6..8], [6, 0]);
    let snapshot = Snapshot::read(old).unwrap();
    assert_eq!((snapshot.damage, snapshot.blocks()), (None, 3));
    let lines: Vec<_> = snapshot.functions.iter().map(|one| (one.line, one.between)).collect();
    let between = |first, last| (0, Some(Between { first, last }));
    assert_eq!(lines, [(8, None), between(8, Some(16)), between(10, None)]);
    assert!(snapshot.functions.iter().all(|one| !one.is_of_class));
    let copy = redact(old, Removed { contents: true, identity: true }).unwrap();
    let copy = Snapshot::read(&copy).unwrap();
    assert_eq!((copy.damage, &copy.functions), (None, &snapshot.functions));
    fuzz::read(old);
}

/// There was nothing of where variables are defined.
#[test]
fn files_of_version_7_are_read() {
    let old = include_bytes!("fixtures/snapshot-v7.heap");
    assert_eq!(old[6..8], [7, 0]);
    let snapshot = Snapshot::read(old).unwrap();
    assert_eq!((snapshot.damage, snapshot.blocks()), (None, 3));
    assert_eq!(snapshot.labels.places(), []);
    assert!(snapshot.functions.iter().any(|one| one.is_of_class));
    fuzz::read(old);
}

/// Blocks with values and names stood behind them, in one piece.
#[test]
fn files_of_version_8_are_read() {
    let old = include_bytes!("fixtures/snapshot-v8.heap");
    assert_eq!(old[6..8], [8, 0]);
    let snapshot = Snapshot::read(old).unwrap();
    assert_eq!((snapshot.damage, snapshot.blocks()), (None, 22));
    let variants: Vec<u32> =
        snapshot.immediates.blocks.from(BlockIndex(0)).map(|(_, number)| number).collect();
    assert_eq!(variants, [0, 1, 0, 2]);
    assert_eq!(snapshot.immediates.values, [963_043_958, -963_043_957, 963_043_960]);
    assert_eq!(snapshot.immediates.variant(0), Some(&b"Even963043958"[..]));
    assert_eq!(snapshot.objects.blocks.len(), 2);
    let copy = redact(old, Removed { contents: true, identity: true }).unwrap();
    let copy = Snapshot::read(&copy).unwrap();
    assert_eq!((copy.damage, &copy.immediates), (None, &snapshot.immediates));
    fuzz::read(old);
}

/// An array with more pointers than a section holds, and gaps between them.
#[test]
fn edges_of_large_arrays_are_read_again() {
    let mut heap = Heap::new();
    let before = heap.block(0, &[Value::Int(1)]);
    let other = heap.block(0, &[Value::Block(before)]);
    let to = |field: u64| Value::Block(if field.is_multiple_of(3) { before } else { other });
    let full = heap.block(0, &(0..200_000).map(to).collect::<Vec<_>>());
    let odd = |field: u64| if field % 2 == 1 { to(field) } else { Value::Int(5) };
    let half = heap.block(0, &(0..200_000).map(odd).collect::<Vec<_>>());
    let behind = heap.block(0, &[Value::Block(half), Value::Block(full)]);
    heap.root(RootKind::Global, "root", Value::Block(behind), Strength::Strong);
    let bytes = heap.bytes();
    let snapshot = Snapshot::read(&bytes).unwrap();
    assert_eq!((snapshot.damage, snapshot.blocks()), (None, 5));
    assert_eq!(snapshot.totals.edges, 200_000 + 100_000 + 3);
    let mut columns = Columns::new();
    let mut seen = Vec::new();
    for section in 0..snapshot.sections() {
        snapshot.decode(section, &mut columns).unwrap();
        for (place, block) in columns.iter().enumerate() {
            let edges = columns.fields(place).zip(block.targets.iter().copied());
            seen.push((block.wosize.0, edges.collect::<Vec<_>>()));
        }
    }
    let target = |field: u64| u32::from(!field.is_multiple_of(3));
    assert_eq!(seen.iter().map(|(size, _)| *size).collect::<Vec<_>>(), [1, 1, 200_000, 200_000, 2]);
    assert!(seen[2].1 == (0..200_000).map(|field| (field, target(field))).collect::<Vec<_>>());
    let odd = (0..100_000).map(|place| (place * 2 + 1, target(place * 2 + 1)));
    assert!(seen[3].1 == odd.collect::<Vec<_>>());
    assert_eq!(seen[4].1, [(0, 3), (1, 2)]);
    fuzz::read(&bytes);
    // Cut off behind the array's edges.
    let cut = Snapshot::read(&bytes[..bytes.len() - 200]).unwrap();
    assert!(cut.damage.is_some());
    fuzz::read(&bytes[..bytes.len() - 200]);
}

/// Where variables are defined; files without folders in a copy that is given away.
#[test]
fn places_of_variables_are_read_again() {
    let mut heap = heap(1);
    let place = |file: &str, first, last, is_computed| VariablePlace {
        file: file.into(),
        lines: Between { first, last },
        is_computed,
    };
    let places = |folder: &str| {
        [
            (LabelId(0), place(&format!("{folder}shop.ml"), 12, Some(12), true)),
            (LabelId(1), place(&format!("{folder}cart.ml"), 90, None, false)),
        ]
    };
    for (label, place) in places("src/") {
        heap.labels.set_place(label, place);
    }
    heap.labels.set_place(LabelId(1 << 20), place("none.ml", 1, None, false));
    let bytes = heap.bytes();
    let found = |bytes: &[u8]| -> Vec<(LabelId, VariablePlace)> {
        let labels = Snapshot::read(bytes).unwrap().labels;
        labels.places().into_iter().map(|(label, place)| (label, place.clone())).collect()
    };
    assert_eq!(found(&bytes), places("src/"));
    let copy = redact(&bytes, Removed { contents: true, identity: true }).unwrap();
    assert_eq!(found(&copy), places(""));
    let position = |label| Snapshot::read(&bytes).unwrap().labels.position(LabelId(label)).unwrap();
    assert_eq!((position(0).text.as_str(), position(0).derivation), ("src/shop.ml:12", "computed"));
    assert_eq!(
        (position(1).text.as_str(), position(1).derivation),
        ("src/cart.ml:90-end", "neighbours")
    );
    fuzz::read(&bytes);
}

/// Functions without a line have lines between which they start.
#[test]
fn lines_between_which_functions_start_are_read_again() {
    let mut heap = Heap::new();
    let one = Value::Raw(1 << 56 | 2 << 1 | 1);
    for code in [8, BETWEEN + 8, BETWEEN + 10] {
        heap.block(tag::CLOSURE, &[Value::Raw(code), one]);
    }
    let bytes = heap.bytes();
    let snapshot = Snapshot::read(&bytes).unwrap();
    let lines = |one: &memtrail_heap::read::Function| {
        (one.line, one.is_start, one.between, one.is_of_class)
    };
    let expected = [
        (8, true, None, false),
        (0, false, Some(Between { first: 8, last: Some(16) }), false),
        (0, false, Some(Between { first: 10, last: None }), true),
    ];
    assert_eq!(snapshot.functions.iter().map(lines).collect::<Vec<_>>(), expected);
    let copy = redact(&bytes, Removed { contents: true, identity: true }).unwrap();
    assert_eq!(Snapshot::read(&copy).unwrap().functions, snapshot.functions);
    fuzz::read(&bytes);
}

/// What names blocks beside their tags and sizes.
#[test]
fn names_of_single_blocks_are_read_again() {
    let mut heap = Heap::new();
    let one = Value::Raw(1 << 56 | 2 << 1 | 1);
    let function = heap.block(tag::CLOSURE, &[Value::Raw(8), one]);
    // A chain of partial applications: of a function, of nothing that is known, of one inside another.
    let partial = |heap: &mut Heap, of: Value| {
        let code = Value::Raw(PARTIAL + 1);
        heap.block(tag::CLOSURE, &[code, one, Value::Int(3), of])
    };
    let first = partial(&mut heap, Value::Block(function));
    let second = partial(&mut heap, Value::Block(first));
    let unknown = partial(&mut heap, Value::Int(0));
    let infix = Value::Raw(3 << 10 | u64::from(tag::INFIX));
    let several = [Value::Raw(8), one, infix, Value::Raw(24), one];
    let several = heap.block(tag::CLOSURE, &several);
    let inner = partial(&mut heap, Value::Infix(several, 3));
    let name = heap.string(b"Shop.Closed");
    let constructor = heap.block(tag::OBJECT, &[Value::Block(name), Value::Int(-1)]);
    let table = heap.block(0, &[Value::Int(1), Value::Block(function)]);
    let object = heap.block(tag::OBJECT, &[Value::Block(table), Value::Int(7), Value::Int(8)]);
    let variant = heap.block(0, &[Value::Int(963_043_958), Value::Int(1)]);
    let negative = heap.block(0, &[Value::Int(-963_043_957), Value::Int(1)]);
    let again = heap.block(0, &[Value::Int(963_043_958), Value::Int(2)]);
    let small = heap.block(0, &[Value::Int(17), Value::Int(2)]);
    let longer = heap.block(0, &[Value::Int(963_043_958), Value::Int(2), Value::Int(2)]);
    let node = |heap: &mut Heap, key: i64, height: Value| {
        let fields = [Value::Int(0), Value::Int(key), Value::Block(name), Value::Int(0), height];
        heap.block(0, &fields)
    };
    let in_map = node(&mut heap, 963_043_960, Value::Int(1));
    let small_key = node(&mut heap, 17, Value::Int(1));
    let unknown_name = heap.block(0, &[Value::Int(963_043_961), Value::Int(1)]);
    heap.hashes = vec![963_043_960, 963_043_958, 17, 963_043_958];
    let no_node = node(&mut heap, 963_043_960, Value::Int(65));
    let block_last = node(&mut heap, 963_043_960, Value::Block(name));
    let unset = heap.ephemeron(None, &[Some(Value::Block(name))]);
    let number = heap.ephemeron(Some(Value::Int(5)), &[]);
    let bytes = heap.bytes();
    let snapshot = Snapshot::read(&bytes).unwrap();
    assert_eq!(snapshot.damage, None);
    let mut columns = Columns::new();
    snapshot.decode(0, &mut columns).unwrap();
    let numbers = heap.numbers();
    let place = |made: Made| numbers[made.0] as usize;
    let index = |made: Made| BlockIndex(numbers[made.0]);

    let of = |made: Made| {
        let (_, number) = columns.closures().find(|(at, _)| *at == place(made)).unwrap();
        let function = &snapshot.functions[number as usize];
        (function.is_partial, function.code.0, String::from_utf8_lossy(&function.symbol))
    };
    assert_eq!(of(function), (false, 8, "camlModule__f8_1".into()));
    assert_eq!(of(first), (true, 8, "camlModule__f8_1".into()));
    assert_eq!(of(second), of(first));
    assert_eq!((of(unknown).0, of(unknown).1), (true, 0));
    assert_eq!((of(inner).0, of(inner).1), (true, 24));
    assert_eq!((snapshot.functions[0].line, snapshot.functions[0].column), (8, 4));

    let name = |made: Made| {
        let number = snapshot.objects.blocks.get(index(made))?;
        snapshot.objects.names.get(number as usize).cloned()
    };
    assert_eq!(name(constructor), Some(ObjectName::Constructor(b"Shop.Closed".to_vec())));
    assert_eq!(name(object), Some(ObjectName::MethodsOf(Vec::new())));
    assert_eq!(name(table), None);

    assert_eq!(snapshot.immediate(index(variant)), Some(963_043_958));
    assert_eq!(snapshot.immediate(index(again)), Some(963_043_958));
    assert_eq!(snapshot.immediate(index(negative)), Some(-963_043_957));
    assert_eq!(snapshot.immediate(index(in_map)), Some(963_043_960));
    for made in [small, longer, table, function, small_key, no_node, block_last] {
        assert_eq!(snapshot.immediate(index(made)), None);
    }
    assert_eq!(snapshot.immediate(index(unknown_name)), Some(963_043_961));
    let named = |made: Made| {
        let number = snapshot.immediates.blocks.get(index(made))?;
        snapshot.immediates.variant(number)
    };
    assert_eq!((named(variant), named(again)), (Some(&b"Even963043958"[..]), named(variant)));
    assert_eq!(named(negative), None);

    let ephemeron = |made: Made| {
        let all = &mut snapshot.ephemerons.iter();
        all.find(|one| one.block == index(made)).map(|one| (one.data, one.has_data))
    };
    assert_eq!(ephemeron(unset), Some((None, false)));
    assert_eq!(ephemeron(number), Some((None, true)));
    fuzz::read(&bytes);
}

/// Written by the version of before; its pause is where that had it.
#[test]
fn files_of_version_1_are_read() {
    let bytes = include_bytes!("fixtures/snapshot-v1.heap");
    assert_eq!(bytes[6..8], [1, 0]);
    let snapshot = Snapshot::read(bytes).unwrap();
    assert_eq!((snapshot.facts.pause, snapshot.damage), (335_799, None));
    assert_eq!(Peek::new(bytes).unwrap().facts, snapshot.facts);
    assert_eq!((snapshot.facts.program.as_slice(), snapshot.blocks()), (&b"./tiny"[..], 2434));
    fuzz::read(bytes);
}

#[test]
fn everything_written_is_read_again() {
    let heap = heap(100_000);
    let mut bytes = Vec::new();
    let written = heap.write(&mut bytes).unwrap();
    let snapshot = Snapshot::read(&bytes).unwrap();
    assert_eq!(written.bytes, bytes.len() as u64);
    assert_eq!((written.blocks, snapshot.blocks() as usize), (heap.len() as u64, heap.len()));
    assert!(snapshot.sections() > 3);
    let (mut edges, mut columns) = (0, Columns::new());
    for section in 0..snapshot.sections() {
        snapshot.decode(section, &mut columns).unwrap();
        edges += columns.edges().len() as u64;
    }
    assert_eq!((edges, edges), (written.edges, snapshot.totals.edges));
    assert_eq!(snapshot.functions[0].name, b"Module.f8");
    assert_eq!(snapshot.customs[0], b"_custom16");
    assert_eq!((snapshot.samples.len(), snapshot.samples[0].id), (1, 9));
    assert_eq!(snapshot.ephemerons[0].keys.len(), 1);
    let mut texts = 0;
    snapshot
        .contents(|_, _, text| texts += u64::from(text.starts_with(b"cell ") || text == b"the end"))
        .unwrap();
    assert_eq!(texts, 100_001);
}

/// The corpora hold what fuzzing starts from and whatever it once found.
#[test]
fn the_fuzzers_corpora_are_read_without_panic() {
    let replay = |target: &str, run: fn(&[u8])| {
        let folder = format!("{}/fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
        let mut inputs = 0;
        for entry in std::fs::read_dir(&folder).unwrap() {
            run(&std::fs::read(entry.unwrap().path()).unwrap());
            inputs += 1;
        }
        assert!(inputs > 0, "{folder} is empty");
    };
    replay("read", fuzz::read);
    replay("sections", fuzz::sections);
    #[cfg(feature = "analysis")]
    replay("block_types", fuzz::block_types);
}

/// A root that a damaged snapshot has below the root of static data ended the analysis: its number is no block's.
#[test]
fn a_root_below_the_root_of_static_data_is_survived() {
    let mut unpacked = fuzz::unpack(&heap(12).bytes());
    unpacked[65] = 9;
    fuzz::sections(&unpacked);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Bytes changed behind the checksums: wrong numbers in every table.
    #[test]
    fn wrong_numbers_are_errors_or_another_heap(
        changes in proptest::collection::vec((0usize..4096, any::<u8>()), 1..6),
    ) {
        let mut unpacked = fuzz::unpack(&heap(12).bytes());
        let length = unpacked.len();
        for (at, byte) in changes {
            unpacked[at % length] = byte;
        }
        fuzz::sections(&unpacked);
    }
}
