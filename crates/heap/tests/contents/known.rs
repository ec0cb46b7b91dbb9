//! Structures in a snapshot of which some blocks have types already.

use memtrail_heap::contents::types_by_contents_in;
use memtrail_heap::graph::Place;
use memtrail_heap::model::{Heap, Value};
use memtrail_heap::read::Snapshot;
use memtrail_heap::{BlockIndex, BlockType, BlockTypeId, BlockTypes, Derivation, FieldNames};

use super::{list, strings, table, tree, types};

/// Structures of blocks without a type are found as if the others had none either, and those of the others are left out.
#[test]
fn structures_of_typed_blocks_are_left_out() {
    let mut heap = Heap::new();
    let keys = strings(&mut heap, 40);
    let mut ends = Vec::new();
    for _ in 0..2 {
        tree(&mut heap, &keys, 2);
        tree(&mut heap, &keys, 1);
        table(&mut heap, 32, &keys);
        list(&mut heap, &keys);
        let cells = list(&mut heap, &keys);
        let (first, last) = (Value::Block(cells[0]), Value::Block(cells[39]));
        heap.block(0, &[Value::Int(40), first, last]);
        heap.block(0, &[keys[0]; 40]);
        ends.push(heap.len());
    }
    let without = types(&mut heap);
    let bytes = heap.bytes();
    let snapshot = Snapshot::read(&bytes).unwrap();
    let second = ends[0]..ends[1];
    let mut of = vec![BlockTypeId(0); snapshot.blocks() as usize];
    for made in second.clone() {
        of[heap.numbers()[made] as usize] = BlockTypeId(1);
    }
    let declared = BlockType {
        name: "declared".into(),
        constructor: None,
        fields: FieldNames::None,
        derivation: Derivation::Variable,
    };
    let known = BlockTypes::new(of, vec![declared]);
    let found = types_by_contents_in(&Place::Memory, &snapshot, &known, 2).unwrap();
    let numbers = heap.numbers();
    let text =
        |made: usize| found.of(BlockIndex(numbers[made])).map_or_else(String::new, BlockType::text);
    let recognised = without[..ends[0]].iter().filter(|ty| !ty.is_empty()).count();
    // Nodes of the map and of the set, the table, the list, the queue, the array.
    assert_eq!(recognised, 20 + 40 + 42 + 39 + 41 + 1);
    for (made, expected) in without.iter().enumerate().take(ends[0]) {
        assert_eq!(text(made), *expected, "{made}");
    }
    for made in second {
        assert_eq!(text(made), "", "{made}");
    }
}
