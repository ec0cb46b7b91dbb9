//! Files of all versions are read, and what is written reads the same.

use memtrail_types::term::{
    Arrow, Constructor, Content, Declaration, DeclarationId, Definition, DynamicTag, Extension,
    FreeVariable, Function, LabelledField, Method, ModuleId, ModuleLayout, NamedFunction,
    NamedFunctions, Place, PolymorphicTag, Span, Term, TermId, TypeTable,
};
use memtrail_types::{Evidence, Layout, Position, Slot, SlotKind, Types, Unit};

fn labelled(name: &str, ty: u32) -> LabelledField {
    LabelledField { name: name.into(), ty: TermId(ty) }
}

fn slot(name: &str, content: Content) -> Slot {
    Slot {
        kind: SlotKind::Value,
        path: vec![name.into()],
        ty: String::new(),
        position: Some(Position { file: "a.ml".into(), line: 3, column: 5 }),
        stamp: None,
        content,
    }
}

fn declaration(name: &str, definition: Definition) -> Declaration {
    Declaration {
        name: name.into(),
        position: None,
        variables: 1,
        parameters: vec![TermId(1)],
        definition,
    }
}

fn arrow(label: &str, argument: u32, result: u32) -> Term {
    Term::Arrow(Arrow { label: label.into(), argument: TermId(argument), result: TermId(result) })
}

/// Every kind of everything.
fn table() -> TypeTable {
    let terms = vec![
        Term::Unknown("existential type".into()),
        Term::Variable(0),
        Term::Constant("int".into()),
        Term::String("bytes".into()),
        Term::Float,
        Term::Boxed("int64".into()),
        Term::Function,
        Term::Tuple(vec![TermId(2), TermId(3)]),
        Term::Array(TermId(7)),
        Term::FloatArray,
        Term::Lazy(TermId(8)),
        Term::Declared(DeclarationId(2), vec![TermId(10)]),
        Term::PolymorphicVariant(vec![
            PolymorphicTag { name: "A".into(), argument: None },
            PolymorphicTag { name: "B".into(), argument: Some(TermId(7)) },
        ]),
        Term::Object(vec![Method { name: "get".into(), ty: TermId(6) }]),
        Term::Package(ModuleId(0)),
        arrow("", 2, 3),
        arrow("?x:", 15, 15),
        arrow("y:", 7, 16),
        Term::Tuple(vec![TermId(15), TermId(2)]),
    ];
    let constructors = vec![
        Constructor { name: "N".into(), tag: None, arguments: vec![], result: None },
        Constructor {
            name: "C".into(),
            tag: Some(0),
            arguments: vec![labelled("", 1), labelled("x", 2)],
            result: Some(vec![TermId(2)]),
        },
    ];
    let fields = vec![labelled("x", 4)];
    TypeTable {
        terms,
        declarations: vec![
            declaration("a", Definition::Abstract),
            declaration("b", Definition::Alias(TermId(2))),
            declaration("c", Definition::Record { fields, is_floats: true }),
            declaration("d", Definition::Variant(constructors)),
            declaration("e", Definition::Unboxed(TermId(3))),
            declaration("f", Definition::Open),
        ],
        modules: vec![ModuleLayout {
            name: "M".into(),
            slots: vec![slot("x", Content::Module(ModuleId(0))), slot("y", Content::Extension(0))],
        }],
        extensions: vec![Extension {
            name: "E".into(),
            of: DeclarationId(5),
            arguments: vec![labelled("", 2)],
            result: None,
            is_record: false,
        }],
        functions: vec![Function {
            symbol: "A__f_1".into(),
            is_anonymous: true,
            place: Some(Span {
                start: Place { line: 3, column: 10 },
                end: Place { line: 4, column: 0 },
            }),
            words_before: 3,
            environment: vec![
                FreeVariable { name: "x".into(), ty: Some(TermId(2)) },
                FreeVariable { name: "M".into(), ty: None },
            ],
            partial: vec![Place { line: 3, column: 20 }],
        }],
        dynamic: vec![DynamicTag { of: DeclarationId(0), hash: 963_043_957, ty: TermId(7) }],
        named: vec![NamedFunctions {
            unit: "A".into(),
            functions: vec![
                NamedFunction {
                    name: "v_3".into(),
                    position: slot("v", Content::Unknown).position,
                },
                NamedFunction { name: "$2b_4".into(), position: None },
            ],
        }],
    }
}

fn types() -> Types {
    let layout = Layout {
        interface_file: "a.cmi".into(),
        implementation_file: "a.cmt".into(),
        evidence: Evidence::Functions,
        method_cache: false,
        exported: vec![slot("v", Content::Value(TermId(11)))],
        hidden: vec![slot("h", Content::Unknown)],
    };
    let unit = Unit {
        name: "A".into(),
        interface: None,
        implementation: None,
        fields: Some(2),
        layout: Some(layout),
        problems: vec![],
    };
    Types { program: "p".into(), compiler: "5.3.0".into(), units: vec![unit], table: table() }
}

#[test]
fn what_is_written_reads_the_same() {
    let types = types();
    assert_eq!(Types::read(&types.to_bytes()), Ok(types));
}

#[test]
fn terms_are_written_as_ocaml_writes_types() {
    let table = table();
    let texts: Vec<String> = (0..19).map(|id| table.text(TermId(id))).collect();
    let expected = [
        "_",
        "'a",
        "int",
        "bytes",
        "float",
        "int64",
        "(_ -> _)",
        "int * bytes",
        "(int * bytes) array",
        "floatarray",
        "(int * bytes) array lazy_t",
        "(int * bytes) array lazy_t c",
        "[ `A | `B of int * bytes ]",
        "< get : (_ -> _) >",
        "(module M)",
        "int -> bytes",
        "?x:(int -> bytes) -> int -> bytes",
        "y:int * bytes -> ?x:(int -> bytes) -> int -> bytes",
        "(int -> bytes) * int",
    ];
    assert_eq!(texts, expected);
}

/// Whatever a part speaks of has to be there, and parts of terms come before them.
#[test]
fn references_to_nothing_are_damage() {
    let damage: [fn(&mut TypeTable); 9] = [
        |table| table.terms[15] = arrow("", 15, 2),
        |table| table.terms[7] = Term::Array(TermId(7)),
        |table| table.terms[7] = Term::Declared(DeclarationId(6), vec![]),
        |table| table.terms[7] = Term::Package(ModuleId(1)),
        |table| table.declarations[0].definition = Definition::Alias(TermId(19)),
        |table| table.extensions[0].of = DeclarationId(6),
        |table| table.modules[0].slots[0].content = Content::Extension(1),
        |table| table.dynamic[0].of = DeclarationId(6),
        |table| table.dynamic[0].ty = TermId(19),
    ];
    for change in damage {
        let mut types = types();
        change(&mut types.table);
        let error = Types::read(&types.to_bytes()).unwrap_err();
        assert!(error.to_string().ends_with("damaged table of types"), "{error}");
    }
    let mut types = types();
    let layout = types.units[0].layout.as_mut().unwrap();
    layout.exported[0].content = Content::Value(TermId(19));
    let error = Types::read(&types.to_bytes()).unwrap_err();
    assert!(error.to_string().ends_with("damaged unit"), "{error}");
}

/// A file of version 1 has names, and no terms.
#[test]
fn version_1() {
    let bytes = include_bytes!("fixtures/version-1");
    let types = Types::read(bytes).unwrap();
    assert_eq!(types.table, TypeTable::default());
    assert_eq!((types.compiler.as_str(), types.units.len()), ("4.13.1", 1));
    let layout = types.units[0].layout.as_ref().unwrap();
    let slots = || layout.exported.iter().chain(&layout.hidden);
    let names: Vec<String> = slots().map(Slot::variable).collect();
    assert_eq!(names, ["second", "first", "hidden", "get", "Inner", "Inner.deep"]);
    assert!(slots().all(|slot| slot.content == Content::Unknown));
    // Written anew, it has the same in the present version.
    assert_eq!(Types::read(&types.to_bytes()), Ok(types));
}

/// What files up to version 5 have.
fn without_named() -> Types {
    let mut types = types();
    types.table.named.clear();
    types
}

/// What files up to version 4 have.
fn without_arrows() -> Types {
    let mut types = without_named();
    types.table.terms.retain(|term| {
        !matches!(term, Term::Arrow(_)) && *term != Term::Tuple(vec![TermId(15), TermId(2)])
    });
    types
}

/// A file of version 2 has functions by name alone, which are left out.
#[test]
fn version_2() {
    let read = Types::read(include_bytes!("fixtures/version-2")).unwrap();
    let mut expected = without_arrows();
    expected.table.functions.clear();
    expected.table.dynamic.clear();
    assert_eq!(read, expected);
    assert_eq!(Types::read(&read.to_bytes()), Ok(read));
}

/// A file of version 3 has no tags of dynamic values.
#[test]
fn version_3() {
    let read = Types::read(include_bytes!("fixtures/version-3")).unwrap();
    let mut expected = without_arrows();
    expected.table.dynamic.clear();
    assert_eq!(read, expected);
    assert_eq!(Types::read(&read.to_bytes()), Ok(read));
}

/// A file of version 4 has functions without their types.
#[test]
fn version_4() {
    let read = Types::read(include_bytes!("fixtures/version-4")).unwrap();
    assert_eq!(read, without_arrows());
    assert_eq!(Types::read(&read.to_bytes()), Ok(read));
}

/// A file of version 5 has no functions by name.
#[test]
fn version_5() {
    let read = Types::read(include_bytes!("fixtures/version-5")).unwrap();
    assert_eq!(read, without_named());
    assert_eq!(Types::read(&read.to_bytes()), Ok(read));
}
