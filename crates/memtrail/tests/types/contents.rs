//! Types by contents against declared ones, in published programs. `cargo test -- --nocapture` prints figures.

use std::collections::BTreeMap;
use std::fs;

use memtrail_heap::contents::types_by_contents;
use memtrail_heap::graph::Graph;
use memtrail_heap::query::Heap;
use memtrail_heap::read::{Columns, Snapshot};
use memtrail_heap::{BlockType, BlockTypes};
use memtrail_types::Types;

use super::coverage::{THEORY, functions, recorded};
use super::flow::types_of;

/// Whether a declared type is what a block was recognised as. What differs are other types with the same layout,
/// as far as they are known.
fn agrees(recognised: &BlockType, declared: &BlockType) -> bool {
    let name = &declared.name;
    let is_node = declared.constructor.as_deref() == Some("Node");
    match recognised.name.as_str() {
        "list" => name.ends_with(" list"),
        "array" => name.ends_with(" array"),
        "Map.t" => is_node && name.contains("Map"),
        // The compiler's own sets of identifiers are balanced trees with the same four fields.
        "Set.t" => is_node && (name.contains("Set") || name.ends_with(" Ident.tbl")),
        "Hashtbl.t" => name.contains("Hashtbl"),
        "Queue.t" => name.contains("Queue"),
        "Buffer.t" => name.contains("Buffer"),
        _ => false,
    }
}

fn check(program: &str, file: &str, text: &str, arguments: &[&str]) {
    let (_folder, recording) = recorded(program, file, text, arguments);
    let types = Types::read(&fs::read(recording.join("types")).unwrap()).unwrap();
    let bytes = fs::read(recording.join("0001.heap")).unwrap();
    let snapshot = Snapshot::read(&bytes).unwrap();
    let graph = Graph::new(&snapshot, 2).unwrap();
    let heap = Heap { snapshot, graph, threads: 2, types: BlockTypes::default() };
    let (declared, _) = types_of(&heap, &types);
    let recognised = types_by_contents(&heap.snapshot, 2).unwrap();
    let (mut same, mut words, mut all) = (0u64, 0u64, 0u64);
    let mut different: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut columns = Columns::new();
    for section in 0..heap.snapshot.sections() {
        heap.snapshot.decode(section, &mut columns).unwrap();
        for block in columns.iter().filter(|block| heap.graph.is_reachable(block.index)) {
            all += block.size().0;
            let Some(found) = recognised.of(block.index) else { continue };
            words += block.size().0;
            let Some(known) = declared.of(block.index) else { continue };
            if agrees(found, known) {
                same += 1;
            } else {
                *different.entry((found.text(), known.text())).or_default() += 1;
            }
        }
    }
    let share = 100.0 * words as f64 / all as f64;
    println!(
        "{program}: {share:.1} % of words recognised, {same} blocks as declared; {different:#?}"
    );
    assert!(same > 1000, "{same}");
    assert_eq!(different, BTreeMap::new());
}

#[test]
fn what_ocamlopt_declares_is_recognised() {
    check("ocamlopt.opt", "big.ml", &functions(), &["-c", "-S", "big.ml"]);
}

#[test]
fn what_coqc_declares_is_recognised() {
    check("coqc", "theory.v", THEORY, &["-q", "theory.v"]);
}
