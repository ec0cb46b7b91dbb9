//! Maps by the tags of dynamic values: `type t = Obj.t Value.t IntMap.t`.

use crate::support::{Program, block, constructor, record};
use memtrail_heap::model::{Made, Value};
use memtrail_types::term::{DeclarationId, Definition, DynamicTag, Term, TermId};

const NONE: Value = Value::Int(0);
const PAIRS: u32 = 500_000_001;
const TEXTS: u32 = 500_000_002;
const SEVERAL: u32 = 500_000_003;
const OTHER: u32 = 500_000_004;

/// A program with `type 'a boxed = { it : 'a }` and maps with keys of a type; tags are those of pairs, of texts, and of
/// two types.
struct Maps {
    p: Program,
    any: TermId,
    boxed: DeclarationId,
    map: DeclarationId,
}

fn maps(key: impl FnOnce(&mut Program) -> TermId) -> Maps {
    let mut p = Program::new();
    let any = p.declare("Obj.t", 0, Definition::Abstract);
    let any = p.declared(any, &[]);
    let of_value = p.variable(0);
    let boxed = p.declare("boxed", 1, record(&[("it", of_value)]));
    let map = p.declare("Map.t", 1, Definition::Abstract);
    let (key, int) = (key(&mut p), p.int());
    let below = p.declared(map, &[of_value]);
    let fields = [("l", below), ("v", key), ("d", of_value), ("r", below), ("h", int)];
    p.table.declarations[map.0 as usize].definition = Definition::Variant(vec![
        constructor("Empty", None, &[]),
        constructor("Node", Some(0), &fields),
    ]);
    let tag = p.declare("tag", 1, Definition::Abstract);
    let other_tag = p.declare("other_tag", 1, Definition::Abstract);
    let string = p.string();
    let pair = p.term(Term::Tuple(vec![string, int]));
    let row = |of, hash, ty| DynamicTag { of, hash, ty };
    p.table.dynamic = vec![
        row(tag, TEXTS, string),
        row(tag, PAIRS, pair),
        row(tag, SEVERAL, pair),
        row(other_tag, SEVERAL, string),
    ];
    Maps { p, any, boxed, map }
}

impl Maps {
    /// A node without a right subtree.
    fn node(&mut self, left: Value, key: u32, value: Made, height: i64) -> Made {
        let fields = [left, Value::Int(i64::from(key)), block(value), NONE, Value::Int(height)];
        self.p.heap.block(0, &fields)
    }

    fn pair(&mut self) -> Made {
        let text = self.p.heap.string(b"a");
        self.p.heap.block(0, &[block(text), Value::Int(1)])
    }
}

#[test]
fn values_have_the_types_of_their_keys() {
    let mut maps = maps(Program::int);
    let pair = maps.pair();
    let last = maps.node(NONE, PAIRS, pair, 1);
    let text = maps.p.heap.string(b"b");
    let texts = maps.node(block(last), TEXTS, text, 2);
    let several = maps.pair();
    let several = maps.node(block(texts), SEVERAL, several, 3);
    let unknown = maps.p.heap.block(0, &[Value::Int(1)]);
    let first = maps.node(block(several), OTHER, unknown, 4);
    let ty = maps.p.declared(maps.map, &[maps.any]);
    maps.p.global(ty, block(first));
    let (types, coverage) = maps.p.types();
    let node = "Obj.t Map.t.Node";
    let expected = ["string", "string * int", node, "string", node, "?", "?", node, "?", node];
    assert_eq!(types, expected);
    assert_eq!(coverage.contradictions, 0);
}

#[test]
fn what_is_applied_to_any_value_is_applied_to_the_type() {
    let mut maps = maps(Program::int);
    let pair = maps.pair();
    let boxed = maps.p.heap.block(0, &[block(pair)]);
    let node = maps.node(NONE, PAIRS, boxed, 1);
    let of_any = maps.p.declared(maps.boxed, &[maps.any]);
    let ty = maps.p.declared(maps.map, &[of_any]);
    maps.p.global(ty, block(node));
    let expected = ["string", "string * int", "(string * int) boxed", "Obj.t boxed Map.t.Node"];
    assert_eq!(maps.p.types().0, expected);
}

#[test]
fn a_value_that_is_not_of_the_type_has_none() {
    let mut maps = maps(Program::int);
    let pair = maps.pair();
    let node = maps.node(NONE, TEXTS, pair, 1);
    let ty = maps.p.declared(maps.map, &[maps.any]);
    maps.p.global(ty, block(node));
    let (types, coverage) = maps.p.types();
    assert_eq!(types, ["?", "?", "Obj.t Map.t.Node"]);
    assert_eq!(coverage.contradictions, 1);
}

#[test]
fn other_maps_are_left_alone() {
    // The key may be no tag.
    let mut by_char = maps(|p| p.term(Term::Constant("char".into())));
    let pair = by_char.pair();
    let node = by_char.node(NONE, PAIRS, pair, 1);
    let ty = by_char.p.declared(by_char.map, &[by_char.any]);
    by_char.p.global(ty, block(node));
    assert_eq!(by_char.p.types().0, ["?", "?", "Obj.t Map.t.Node"]);
    // The type of the value is known.
    let mut of_lists = maps(Program::int);
    let list = of_lists.p.list();
    let string = of_lists.p.string();
    let text = of_lists.p.heap.string(b"a");
    let cell = of_lists.p.heap.block(0, &[block(text), NONE]);
    let node = of_lists.node(NONE, PAIRS, cell, 1);
    let texts = of_lists.p.declared(list, &[string]);
    let ty = of_lists.p.declared(of_lists.map, &[texts]);
    of_lists.p.global(ty, block(node));
    assert_eq!(of_lists.p.types().0, ["string", "string list.::", "string list Map.t.Node"]);
}
