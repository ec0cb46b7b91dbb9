//! Each kind of type against blocks that are made for it by hand.

use crate::support::{Program, block, constructor, fields, record};
use memtrail_heap::model::{Made, Value};
use memtrail_heap::{LabelRole, PREDEFINED_EXCEPTIONS, RootKind, Space, Strength, tag};
use memtrail_types::term::{
    Arrow, Content, Definition, Extension, FreeVariable, Function, Method, ModuleId, ModuleLayout,
    PolymorphicTag, Term, TermId,
};

const ONE: Value = Value::Int(1);

#[test]
fn lists_tuples_records_and_strings() {
    let mut p = Program::new();
    let (int, string) = (p.int(), p.string());
    let list = p.list();
    let pair = p.term(Term::Tuple(vec![string, int]));
    let point = p.declare("Point.t", 0, record(&[("x", int), ("label", string)]));
    let point = p.declared(point, &[]);
    let both = p.term(Term::Tuple(vec![pair, point]));
    let of_both = p.declared(list, &[both]);
    let text = p.heap.string(b"a");
    let label = p.heap.string(b"b");
    let pair = p.heap.block(0, &[block(text), ONE]);
    let point = p.heap.block(0, &[ONE, block(label)]);
    let both = p.heap.block(0, &[block(pair), block(point)]);
    let last = p.heap.block(0, &[block(both), Value::Int(0)]);
    let first = p.heap.block(0, &[block(both), block(last)]);
    p.global(of_both, block(first));
    let (types, coverage) = p.types();
    let list = "((string * int) * Point.t) list.::";
    let wanted =
        ["string", "string", "string * int", "Point.t", "(string * int) * Point.t", list, list];
    assert_eq!(types, wanted);
    assert_eq!(coverage.by_variable, coverage.bytes);
    assert_eq!((coverage.contradictions, coverage.differing), (0, 0));
}

/// Neither a stack slot nor the environment of an unknown function says of what type its values are: those that typed fields
/// reach as well have that type, and what only these hold has none, for a reason.
#[test]
fn values_of_stack_slots_and_environments_have_the_type_of_typed_fields() {
    let mut p = Program::new();
    let (int, string) = (p.int(), p.string());
    let point = p.declare("Point.t", 0, record(&[("x", int), ("label", string)]));
    let point = p.declared(point, &[]);
    let list = p.list();
    let points = p.declared(list, &[point]);
    let label = p.heap.string(b"a");
    let shown = p.heap.block(0, &[ONE, block(label)]);
    let captured = p.heap.block(0, &[ONE, block(label)]);
    let last = p.heap.block(0, &[block(captured), Value::Int(0)]);
    let first = p.heap.block(0, &[block(shown), block(last)]);
    p.global(points, block(first));
    let own = p.heap.string(b"of the frame alone");
    let local = p.heap.block(0, &[block(shown), block(own)]);
    let code = [Value::Raw(0x10_0000), Value::Raw(1 << 56 | 5), block(captured)];
    let closure = p.heap.block(tag::CLOSURE, &code);
    let labels = &mut p.heap.labels;
    let frame = labels.add(None, RootKind::Stack, LabelRole::Frame, b"Main.f", b"main.ml", 3);
    for slot in [local, closure, last] {
        p.heap.root_at(frame, block(slot), Strength::Strong, None);
    }
    let (types, coverage) = p.types();
    let cell = "Point.t list.::";
    assert_eq!(types, ["string", "Point.t", "Point.t", cell, cell, "?", "?", "?"]);
    let stops = coverage.stops.iter().map(|stop| (stop.reason.as_str(), stop.blocks));
    assert!(stops.clone().any(|stop| stop == ("root without a type: stack", 3)), "{stops:?}");
}

/// `type 'a t = { table : ('a * 'a) array; mutable next : 'a t option }`, applied to floats.
#[test]
fn arguments_of_declared_types() {
    let mut p = Program::new();
    let a = p.variable(0);
    let option = p.declare(
        "option",
        1,
        Definition::Variant(vec![
            constructor("None", None, &[]),
            constructor("Some", Some(0), &[("", a)]),
        ]),
    );
    let pair = p.term(Term::Tuple(vec![a, a]));
    let array = p.term(Term::Array(pair));
    let t = p.declare("Table.t", 1, Definition::Abstract);
    let of_a = p.declared(t, &[a]);
    let next = p.declared(option, &[of_a]);
    p.table.declarations[t.0 as usize].definition = record(&[("table", array), ("next", next)]);
    let float = p.term(Term::Float);
    let of_float = p.declared(t, &[float]);
    let number = p.heap.block(tag::DOUBLE, &[Value::Raw(0)]);
    let pair = p.heap.block(0, &[block(number), block(number)]);
    let array = p.heap.block(0, &[block(pair), block(pair), block(pair)]);
    let empty = p.heap.block_in(Space::Static, 0, &[]);
    let end = p.heap.block(0, &[block(empty), ONE]);
    let some = p.heap.block(0, &[block(end)]);
    let top = p.heap.block(0, &[block(array), block(some)]);
    p.global(of_float, block(top));
    let wanted = [
        "float",
        "float * float",
        "(float * float) array",
        "?",
        "float Table.t",
        "float Table.t option.Some",
        "float Table.t",
    ];
    assert_eq!(p.types().0, wanted);
}

/// `type t = t list`, as `-rectypes` allows, and abbreviations of each other without end.
#[test]
fn recursive_abbreviations() {
    let mut p = Program::new();
    let list = p.list();
    let t = p.declare("t", 0, Definition::Abstract);
    let of_t = p.declared(t, &[]);
    let nested = p.declared(list, &[of_t]);
    p.table.declarations[t.0 as usize].definition = Definition::Alias(nested);
    let (one, other) =
        (p.declare("a", 0, Definition::Abstract), p.declare("b", 0, Definition::Abstract));
    let (to_one, to_other) = (p.declared(one, &[]), p.declared(other, &[]));
    p.table.declarations[one.0 as usize].definition = Definition::Alias(to_other);
    p.table.declarations[other.0 as usize].definition = Definition::Alias(to_one);
    let inner = p.heap.block(0, &[ONE, ONE]);
    let outer = p.heap.block(0, &[block(inner), ONE]);
    let endless = p.heap.block(0, &[ONE]);
    p.global(of_t, block(outer));
    p.global(to_one, block(endless));
    let (types, coverage) = p.types();
    assert_eq!(types, ["t list.::", "t list.::", "?"]);
    assert_eq!(coverage.stops[0].reason, "an abbreviation without end");
    assert_eq!(coverage.stops[0].blocks, 1);
}

#[test]
fn lazy_values() {
    let mut p = Program::new();
    let string = p.string();
    let lazy = p.term(Term::Lazy(string));
    let text = p.heap.string(b"forced");
    let inner = p.heap.string(b"forwarded");
    let forward = p.heap.block(tag::FORWARD, &[block(inner)]);
    let code = [Value::Raw(0x10_0000), Value::Raw(1 << 56 | 5)];
    let closure = p.heap.block(tag::CLOSURE, &code);
    let thunk = p.heap.block(tag::LAZY, &[block(closure)]);
    for value in [text, forward, thunk] {
        p.global(lazy, block(value));
    }
    let wanted = ["string", "string", "string lazy_t", "function", "string lazy_t.not forced"];
    assert_eq!(p.types().0, wanted);
}

/// Constants have no block, and tags count the others; one constructor is an inline record.
#[test]
fn constructors_by_tag() {
    let mut p = Program::new();
    let string = p.string();
    let shape = p.declare(
        "shape",
        0,
        Definition::Variant(vec![
            constructor("Empty", None, &[]),
            constructor("Named", Some(0), &[("", string)]),
            constructor("Full", None, &[]),
            constructor("Pair", Some(1), &[("left", string), ("right", string)]),
        ]),
    );
    let shape = p.declared(shape, &[]);
    let text = p.heap.string(b"text");
    let named = p.heap.block(0, &[block(text)]);
    let pair = p.heap.block(1, &[block(text), block(text)]);
    let wrong_tag = p.heap.block(2, &[block(text)]);
    let wrong_size = p.heap.block(0, &[block(text), block(text)]);
    for value in [named, pair, wrong_tag, wrong_size] {
        p.global(shape, block(value));
    }
    let (types, coverage) = p.types();
    assert_eq!(types, ["string", "shape.Named", "shape.Pair", "?", "?"]);
    assert_eq!(coverage.contradictions, 2);
    let rejected: Vec<_> =
        coverage.rejected.iter().map(|r| (r.r#type.as_str(), r.tag, r.fields)).collect();
    assert_eq!(rejected, [("shape", 2, 1), ("shape", 0, 2)]);
}

/// `type _ t = Int : int -> int t | Pair : 'a t * 'b t -> ('a * 'b) t | Any : 'c -> int t`.
#[test]
fn results_of_gadt_constructors() {
    let mut p = Program::new();
    let (int, string) = (p.int(), p.string());
    let (a, b) = (p.variable(1), p.variable(2));
    let t = p.declare("t", 1, Definition::Abstract);
    let (of_a, of_b) = (p.declared(t, &[a]), p.declared(t, &[b]));
    let pair = p.term(Term::Tuple(vec![a, b]));
    let mut of_int = constructor("Int", Some(0), &[("", int)]);
    of_int.result = Some(vec![int]);
    let mut of_pair = constructor("Pair", Some(1), &[("", of_a), ("", of_b)]);
    of_pair.result = Some(vec![pair]);
    let mut any = constructor("Any", Some(2), &[("", a)]);
    any.result = Some(vec![string]);
    p.table.declarations[t.0 as usize].definition = Definition::Variant(vec![of_int, of_pair, any]);
    let root = p.term(Term::Tuple(vec![int, string]));
    let root = p.declared(t, &[root]);
    let number = p.heap.block(0, &[ONE]);
    let hidden = p.heap.string(b"hidden");
    let any = p.heap.block(2, &[block(hidden)]);
    let pair = p.heap.block(1, &[block(number), block(any)]);
    p.global(root, block(pair));
    let (types, coverage) = p.types();
    assert_eq!(types, ["int t.Int", "?", "string t.Any", "(int * string) t.Pair"]);
    assert_eq!(coverage.stops[0].reason, "existential of t.Any");
}

#[test]
fn floats_and_unboxed_types() {
    let mut p = Program::new();
    let float = p.term(Term::Float);
    let string = p.string();
    let array = p.term(Term::Array(float));
    let strings = p.term(Term::Array(string));
    let floats =
        Definition::Record { fields: fields(&[("x", float), ("y", float)]), is_floats: true };
    let point = p.declare("point", 0, floats);
    let point = p.declared(point, &[]);
    let id = p.declare("Id.t", 0, Definition::Unboxed(string));
    let id = p.declared(id, &[]);
    let two = [Value::Raw(0), Value::Raw(0)];
    let flat = p.heap.block(tag::DOUBLE_ARRAY, &two);
    let xy = p.heap.block(tag::DOUBLE_ARRAY, &two);
    let text = p.heap.string(b"id");
    p.global(array, block(flat));
    p.global(point, block(xy));
    p.global(id, block(text));
    p.global(strings, block(flat));
    let (types, coverage) = p.types();
    assert_eq!(types, ["float array", "point", "string"]);
    assert_eq!(coverage.contradictions, 1);
}

/// The block says which of a polymorphic variant's tags it is where only one of them can have such a block.
#[test]
fn polymorphic_variants() {
    let mut p = Program::new();
    let (int, string) = (p.int(), p.string());
    let pair = p.term(Term::Tuple(vec![string, int]));
    let other = p.term(Term::Tuple(vec![int, string]));
    let tag = |name: &str, argument| PolymorphicTag { name: name.into(), argument };
    let one = p.term(Term::PolymorphicVariant(vec![tag("A", Some(string)), tag("B", None)]));
    let clear =
        p.term(Term::PolymorphicVariant(vec![tag("A", Some(string)), tag("P", Some(pair))]));
    let unclear =
        p.term(Term::PolymorphicVariant(vec![tag("P", Some(pair)), tag("Q", Some(other))]));
    let text = p.heap.string(b"text");
    let pair = p.heap.block(0, &[block(text), ONE]);
    let alone = p.heap.block(0, &[ONE, ONE]);
    let a = p.heap.block(0, &[Value::Int(65), block(text)]);
    let known = p.heap.block(0, &[Value::Int(80), block(pair)]);
    let not_known = p.heap.block(0, &[Value::Int(81), block(alone)]);
    p.global(one, block(a));
    p.global(clear, block(known));
    p.global(unclear, block(not_known));
    let (types, coverage) = p.types();
    let wanted = [
        "string",
        "string * int",
        "?",
        "[ `A of string | `B ]",
        "[ `A of string | `P of (string * int) ]",
        "[ `P of (string * int) | `Q of (int * string) ]",
    ];
    assert_eq!(types, wanted);
    assert_eq!(coverage.stops[0].reason, "one of several types");
}

/// Where the hash of its tag is one of the snapshot's integers, it says which type an argument has.
#[test]
fn polymorphic_variants_by_hash() {
    let mut p = Program::new();
    let (int, string) = (p.int(), p.string());
    let pair = p.term(Term::Tuple(vec![string, int]));
    let other = p.term(Term::Tuple(vec![int, string]));
    let tag = |name: &str, argument| PolymorphicTag { name: name.into(), argument };
    let both =
        p.term(Term::PolymorphicVariant(vec![tag("Left", Some(pair)), tag("Right", Some(other))]));
    let [left, right, third] = ["Left", "Right", "Third"]
        .map(|name| Value::Int(memtrail_ocaml::variants::hash(name.as_bytes())));
    for hash in [left, right, third] {
        let carried = p.heap.block(0, &[ONE, ONE]);
        let variant = p.heap.block(0, &[hash, block(carried)]);
        p.global(both, block(variant));
    }
    let (types, coverage) = p.types();
    let variant = "[ `Left of (string * int) | `Right of (int * string) ]";
    assert_eq!(types, ["string * int", variant, "int * string", variant, "?", variant]);
    assert_eq!(coverage.stops[0].reason, "argument of a polymorphic variant");
}

/// A module that is a whole unit is that unit's block, with the fields that its interface does not have.
#[test]
fn a_unit_as_a_module() {
    let mut p = Program::new();
    let string = p.string();
    p.table.modules.push(ModuleLayout { name: "Unit".into(), slots: Vec::new() });
    let text = p.heap.string(b"text");
    p.global(string, block(text));
    p.global_is_unit(Content::Module(ModuleId(0)));
    let (types, coverage) = p.types();
    assert_eq!(types, ["string"]);
    assert_eq!((coverage.contradictions, coverage.differing), (0, 0));
}

/// A module is gone through before values, so that exceptions are known when they are met.
#[test]
fn exceptions() {
    let mut p = Program::new();
    let string = p.string();
    let exn = p.declare("exn", 0, Definition::Open);
    let of_exn = p.declared(exn, &[]);
    p.table.extensions.push(Extension {
        name: "Cache.Miss".into(),
        of: exn,
        arguments: fields(&[("", string)]),
        result: None,
        is_record: false,
    });
    let name = p.heap.string(b"Cache.Miss");
    let miss = p.heap.block(tag::OBJECT, &[block(name), ONE]);
    let text = p.heap.string(b"what");
    let raised = p.heap.block(0, &[block(miss), block(text)]);
    let other_name = p.heap.string(b"Other");
    let other = p.heap.block(tag::OBJECT, &[block(other_name), ONE]);
    let hidden = p.heap.string(b"?");
    let unknown = p.heap.block(0, &[block(other), block(hidden)]);
    p.global(of_exn, block(raised));
    p.global(of_exn, block(unknown));
    p.global(of_exn, block(miss));
    p.global_content(Content::Extension(0), block(miss));
    let (types, coverage) = p.types();
    let wanted =
        ["string", "constructor Cache.Miss", "string", "exn.Cache.Miss", "?", "?", "?", "exn"];
    assert_eq!(types, wanted);
    assert_eq!(coverage.stops[0].reason, "unknown extension constructor");
}

/// The runtime's own exceptions are no unit's. A constructor that only has the same name is none of them.
#[test]
fn predefined_exceptions_have_their_types() {
    let mut p = Program::new();
    let string = p.string();
    let exn = p.declare("exn", 0, Definition::Open);
    let of_exn = p.declared(exn, &[]);
    p.table.extensions.push(Extension {
        name: "Failure".into(),
        of: exn,
        arguments: fields(&[("", string)]),
        result: None,
        is_record: false,
    });
    let constructor = |p: &mut Program, space| {
        let name = p.heap.block_in(space, tag::STRING, &[]);
        p.heap.block_in(space, tag::OBJECT, &[block(name), ONE])
    };
    let failure = constructor(&mut p, Space::Static);
    let all =
        p.heap.labels.add(None, RootKind::Static, LabelRole::Other, PREDEFINED_EXCEPTIONS, b"", 0);
    let label =
        p.heap.labels.add(Some(all), RootKind::Static, LabelRole::Symbol, b"Failure", b"", 0);
    p.heap.root_at(label, block(failure), Strength::Weak, None);
    let text = p.heap.string(b"what");
    let raised = p.heap.block(0, &[block(failure), block(text)]);
    let local = constructor(&mut p, Space::Major);
    let hidden = p.heap.string(b"?");
    let unknown = p.heap.block(0, &[block(local), block(hidden)]);
    p.global(of_exn, block(raised));
    p.global(of_exn, block(unknown));
    let (types, coverage) = p.types();
    let typed = types.iter().filter(|ty| *ty == "exn.Failure").count();
    assert_eq!((typed, types.iter().filter(|ty| *ty == "constructor Failure").count()), (1, 1));
    assert_eq!(coverage.stops[0].reason, "unknown extension constructor");
}

#[test]
fn weak_arrays_and_ephemerons() {
    let mut p = Program::new();
    let string = p.string();
    let int = p.int();
    let pair = p.term(Term::Tuple(vec![int, string]));
    let weak = p.declare("Weak.t", 1, Definition::Abstract);
    let any = p.declare("Obj.t", 0, Definition::Abstract);
    let any = p.declared(any, &[]);
    let ephemeron = p.declare("Ephemeron.K1.t", 2, Definition::Alias(any));
    let weak = p.declared(weak, &[pair]);
    let ephemeron = p.declared(ephemeron, &[pair, string]);
    let text = p.heap.string(b"text");
    let key = p.heap.block(0, &[ONE, block(text)]);
    let data = p.heap.string(b"data");
    let array = p.heap.ephemeron(None, &[Some(block(key)), None]);
    let one = p.heap.ephemeron(Some(block(data)), &[Some(block(key))]);
    p.global(weak, block(array));
    p.global(ephemeron, block(one));
    // Without a strong reference the key would be no live block.
    p.global(any, block(key));
    let wanted = [
        "string",
        "int * string",
        "string",
        "(int * string) Weak.t",
        "(int * string, string) Ephemeron.K1.t",
    ];
    assert_eq!(p.types().0, wanted);
}

/// What is abstract has a type, and what is below it has none.
#[test]
fn where_types_end() {
    let mut p = Program::new();
    let string = p.string();
    let hidden = p.declare("Hidden.t", 0, Definition::Abstract);
    let hidden = p.declared(hidden, &[]);
    let channel = p.declare("in_channel", 0, Definition::Abstract);
    let channel = p.declared(channel, &[]);
    let object = p.term(Term::Object(vec![Method { name: "get".into(), ty: string }]));
    let unknown = p.term(Term::Unknown("unresolved X.t".into()));
    let below = p.heap.string(b"below");
    let abstracted = p.heap.block(0, &[block(below)]);
    let custom = p.heap.block(tag::CUSTOM, &[Value::Raw(1), Value::Raw(0)]);
    let table = p.heap.block(0, &[ONE]);
    let made = p.heap.block(tag::OBJECT, &[block(table), ONE]);
    let lost = p.heap.block(0, &[ONE]);
    p.global(hidden, block(abstracted));
    p.global(channel, block(custom));
    p.global(object, block(made));
    p.global(unknown, block(lost));
    let (types, coverage) = p.types();
    assert_eq!(types, ["?", "Hidden.t", "in_channel", "?", "< get : string >", "?"]);
    let mut reasons: Vec<_> = coverage.stops.iter().map(|stop| stop.reason.as_str()).collect();
    reasons.sort_unstable();
    assert_eq!(
        reasons,
        ["abstract type Hidden.t", "instance variables of an object", "unresolved X.t"]
    );
}

/// Of two types the one with fewer unknown parts stays, and what is below gets the better one, too.
#[test]
fn the_more_precise_type_stays() {
    let mut p = Program::new();
    let string = p.string();
    let unknown = p.term(Term::Unknown("type variable".into()));
    let list = p.list();
    let (vague, clear) = (p.declared(list, &[unknown]), p.declared(list, &[string]));
    let text = p.heap.string(b"text");
    let cell = p.heap.block(0, &[block(text), ONE]);
    let first = p.heap.block(0, &[block(text), block(cell)]);
    p.global(vague, block(first));
    p.global(clear, block(cell));
    assert_eq!(p.types().0, ["string", "string list.::", "_ list.::"]);
}

/// Two abbreviations of one type are the same, two records with the same fields are not.
#[test]
fn types_that_differ() {
    let mut p = Program::new();
    let string = p.string();
    let list = p.list();
    let name = p.declare("name", 0, Definition::Alias(string));
    let name = p.declared(name, &[]);
    let (names, strings) = (p.declared(list, &[name]), p.declared(list, &[string]));
    let one = p.declare("one", 0, record(&[("a", string)]));
    let other = p.declare("other", 0, record(&[("a", string)]));
    let (one, other) = (p.declared(one, &[]), p.declared(other, &[]));
    let text = p.heap.string(b"text");
    let cell = p.heap.block(0, &[block(text), ONE]);
    let shared = p.heap.block(0, &[block(text)]);
    p.global(names, block(cell));
    p.global(strings, block(cell));
    p.global(one, block(shared));
    p.global(other, block(shared));
    let (types, coverage) = p.types();
    assert_eq!(coverage.differing, 1);
    let [difference] = coverage.differences.as_slice() else { panic!("{coverage:?}") };
    let mut both = [difference.r#type.as_str(), difference.other.as_str()];
    assert_eq!(types[2], both[0]);
    both.sort_unstable();
    assert_eq!(both, ["one", "other"]);
}

fn variable(name: &str, ty: TermId) -> FreeVariable {
    FreeVariable { name: name.into(), ty: Some(ty) }
}

/// A function whose code is at an address.
fn function(code: u64, words_before: u32, environment: Vec<FreeVariable>) -> Function {
    Function {
        symbol: format!("Module__f{code}_1"),
        is_anonymous: false,
        place: None,
        words_before,
        environment,
        partial: Vec::new(),
    }
}

/// A closure with its code, of which there are one or two words.
fn closure(p: &mut Program, code: u64, arity: u64, held: &[Value]) -> Made {
    let mut words = vec![Value::Raw(code), Value::Raw(arity << 56 | 5)];
    if arity > 1 {
        words.push(Value::Raw(code));
    }
    words.extend(held);
    p.heap.block(tag::CLOSURE, &words)
}

/// A function's block is the same whatever its type is. Where a type has parts that are functions, it says of what type.
#[test]
fn types_of_functions() {
    let mut p = Program::new();
    let (int, string, variable) = (p.int(), p.string(), p.term(Term::Variable(0)));
    let mut arrow = |label: &str, argument, result| {
        p.term(Term::Arrow(Arrow { label: label.into(), argument, result }))
    };
    let of_variable = arrow("", variable, string);
    let of_int = arrow("", int, string);
    let inner = arrow("y:", int, string);
    let labelled = arrow("?x:", of_int, inner);
    let array = p.term(Term::Array(variable));
    let array_of = p.declare("array_of", 1, Definition::Alias(array));
    let functions = p.declared(array_of, &[labelled]);
    // What a constructor's result takes is what its type takes.
    let mut taking = constructor("Takes", Some(0), &[("", array)]);
    taking.result = Some(vec![of_variable]);
    let takes = p.declare("takes", 1, Definition::Variant(vec![taking]));
    let pair = p.term(Term::Tuple(vec![int, string]));
    let of_pair = Arrow { label: String::new(), argument: pair, result: string };
    let of_pair = p.term(Term::Arrow(of_pair));
    let takes = p.declared(takes, &[of_pair]);
    let code = closure(&mut p, 0x10_0000, 1, &[]);
    let held = p.heap.block(0, &[block(code)]);
    let text = p.heap.string(b"text");
    let tuple = p.heap.block(0, &[ONE, block(text)]);
    let tuples = p.heap.block(0, &[block(tuple)]);
    let taken = p.heap.block(0, &[block(tuples)]);
    p.global(functions, block(held));
    p.global(takes, block(taken));
    p.global(labelled, block(code));
    let (types, coverage) = p.types();
    let wanted = [
        "function",
        "(?x:(int -> string) -> y:int -> string) array",
        "string",
        "int * string",
        "(int * string) array",
        "(int * string -> string) takes",
    ];
    assert_eq!(types, wanted);
    assert_eq!((coverage.contradictions, coverage.differing), (0, 0));
}

/// The environment of a function is used if all that its closures hold agrees with it.
#[test]
fn environments_of_closures() {
    let mut p = Program::new();
    let (int, string) = (p.int(), p.string());
    let pair = p.term(Term::Tuple(vec![string, int]));
    let any_function = p.term(Term::Function);
    let (one, two, other) = (0x10_0000, 0x10_0010, 0x10_0020);
    p.table.functions = vec![
        function(one, 2, vec![variable("pair", pair), variable("f", any_function)]),
        function(two, 3, vec![variable("text", string), variable("n", int)]),
        function(other, 2, vec![variable("pair", pair)]),
    ];
    let text = p.heap.string(b"text");
    let inner = closure(&mut p, two, 2, &[block(text), ONE]);
    let held = p.heap.block(0, &[block(text), ONE]);
    let outer = closure(&mut p, one, 1, &[block(held), block(inner)]);
    let lost = p.heap.block(0, &[ONE, ONE]);
    // One size more than is known of the function.
    let longer = closure(&mut p, other, 1, &[block(lost), ONE]);
    for value in [outer, longer] {
        p.global(any_function, block(value));
    }
    let (types, coverage) = p.types();
    let wanted = ["string", "function", "string * int", "function", "?", "function"];
    assert_eq!(types, wanted);
    let reasons: Vec<_> = coverage.stops.iter().map(|stop| stop.reason.as_str()).collect();
    assert_eq!(reasons, ["environment of a closure that differs"]);
    assert!(coverage.by_closure.0 > 0);
}

/// One closure that differs from what is known of its function is enough not to use it: in the size of a block, in an
/// integer that is to be a block, in a block that is to be an integer.
#[test]
fn an_environment_that_one_closure_contradicts() {
    for wrong in [0, 1, 2] {
        let mut p = Program::new();
        let (int, string) = (p.int(), p.string());
        let pair = p.term(Term::Tuple(vec![string, int]));
        let any_function = p.term(Term::Function);
        let code = 0x10_0000;
        p.table.functions =
            vec![function(code, 2, vec![variable("pair", pair), variable("n", int)])];
        let text = p.heap.string(b"text");
        let right = p.heap.block(0, &[block(text), ONE]);
        let short = p.heap.block(0, &[block(text)]);
        let first = closure(&mut p, code, 1, &[block(right), ONE]);
        let second = match wrong {
            0 => [block(short), ONE],
            1 => [ONE, ONE],
            _ => [block(right), block(short)],
        };
        let second = closure(&mut p, code, 1, &second);
        for value in [first, second] {
            p.global(any_function, block(value));
        }
        let (types, _) = p.types();
        assert_eq!(types, ["?", "?", "?", "function", "function"], "{wrong}");
    }
}
