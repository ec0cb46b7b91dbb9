//! Writes the table of types.

use std::collections::HashMap;

use crate::format::kind;
use crate::slot::{Position, Slot};
use crate::term::{
    Constructor, Content, Declaration, Definition, DynamicTag, Extension, Function, LabelledField,
    ModuleLayout, NamedFunctions, Place, Term, TermId, TypeTable,
};
use memtrail_leb128::{put, put_bytes};

/// A section has about so many bytes.
const SECTION: usize = 60_000;

/// Appends the table's sections.
pub(crate) fn put_table(file: &mut Vec<u8>, table: &TypeTable) {
    let mut names = FileNames::default();
    sections(file, kind::TERMS, &table.terms, put_term);
    sections(file, kind::DECLARATIONS, &table.declarations, |into, declaration| {
        put_declaration(into, declaration, &mut names);
    });
    sections(file, kind::MODULES, &table.modules, |into, module| {
        put_module(into, module, &mut names);
    });
    sections(file, kind::EXTENSIONS, &table.extensions, put_extension);
    sections(file, kind::CLOSURES, &table.functions, put_function);
    sections(file, kind::DYNAMIC, &table.dynamic, put_dynamic_tag);
    sections(file, kind::NAMED, &table.named, |into, unit| {
        put_named_functions(into, unit, &mut names);
    });
    sections(file, kind::FILES, &names.names, |into, name| put_bytes(into, name.as_bytes()));
}

/// Sections of one kind: each has rows until it ends.
fn sections<T>(file: &mut Vec<u8>, kind: u64, rows: &[T], mut row: impl FnMut(&mut Vec<u8>, &T)) {
    let mut payload = Vec::new();
    let mut rows = rows.iter().peekable();
    while let Some(next) = rows.next() {
        row(&mut payload, next);
        if payload.len() >= SECTION || rows.peek().is_none() {
            put(file, kind);
            put_bytes(file, &payload);
            payload.clear();
        }
    }
}

/// Source files by number, from 1.
#[derive(Debug, Default)]
pub(crate) struct FileNames {
    pub(crate) names: Vec<String>,
    numbers: HashMap<String, u64>,
}

impl FileNames {
    fn number(&mut self, name: &str) -> u64 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        self.names.push(name.into());
        let number = self.names.len() as u64;
        self.numbers.insert(name.into(), number);
        number
    }

    pub(crate) fn put_position(&mut self, into: &mut Vec<u8>, position: Option<&Position>) {
        let (file, line, column) = position.map_or((0, 0, 0), |position| {
            (self.number(&position.file), position.line, position.column)
        });
        put(into, file);
        put(into, line);
        put(into, column);
    }
}

fn put_list<T>(into: &mut Vec<u8>, rows: &[T], mut row: impl FnMut(&mut Vec<u8>, &T)) {
    put(into, rows.len() as u64);
    for next in rows {
        row(into, next);
    }
}

fn put_optional<T>(into: &mut Vec<u8>, value: Option<T>, put_value: impl FnOnce(&mut Vec<u8>, T)) {
    put(into, u64::from(value.is_some()));
    if let Some(value) = value {
        put_value(into, value);
    }
}

fn put_id(into: &mut Vec<u8>, id: TermId) {
    put(into, u64::from(id.0));
}

fn put_ids(into: &mut Vec<u8>, ids: &[TermId]) {
    put_list(into, ids, |into, &id| put_id(into, id));
}

fn put_term(into: &mut Vec<u8>, term: &Term) {
    let named = |into: &mut Vec<u8>, kind, name: &str| {
        put(into, kind);
        put_bytes(into, name.as_bytes());
    };
    match term {
        Term::Unknown(reason) => named(into, 0, reason),
        Term::Variable(number) => {
            put(into, 1);
            put(into, u64::from(*number));
        }
        Term::Constant(name) => named(into, 2, name),
        Term::String(name) => named(into, 3, name),
        Term::Float => put(into, 4),
        Term::Boxed(name) => named(into, 5, name),
        Term::Function => put(into, 6),
        Term::Tuple(parts) => {
            put(into, 7);
            put_ids(into, parts);
        }
        Term::Array(part) => {
            put(into, 8);
            put_id(into, *part);
        }
        Term::FloatArray => put(into, 9),
        Term::Lazy(part) => {
            put(into, 10);
            put_id(into, *part);
        }
        Term::Declared(declaration, arguments) => {
            put(into, 11);
            put(into, u64::from(declaration.0));
            put_ids(into, arguments);
        }
        Term::PolymorphicVariant(tags) => {
            put(into, 12);
            put_list(into, tags, |into, tag| {
                put_bytes(into, tag.name.as_bytes());
                put_optional(into, tag.argument, put_id);
            });
        }
        Term::Object(methods) => {
            put(into, 13);
            put_list(into, methods, |into, method| {
                put_bytes(into, method.name.as_bytes());
                put_id(into, method.ty);
            });
        }
        Term::Package(module) => {
            put(into, 14);
            put(into, u64::from(module.0));
        }
        Term::Arrow(arrow) => {
            named(into, 15, &arrow.label);
            put_id(into, arrow.argument);
            put_id(into, arrow.result);
        }
    }
}

fn put_fields(into: &mut Vec<u8>, fields: &[LabelledField]) {
    put_list(into, fields, |into, field| {
        put_bytes(into, field.name.as_bytes());
        put_id(into, field.ty);
    });
}

fn put_declaration(into: &mut Vec<u8>, declaration: &Declaration, names: &mut FileNames) {
    put_bytes(into, declaration.name.as_bytes());
    names.put_position(into, declaration.position.as_ref());
    put(into, u64::from(declaration.variables));
    put_ids(into, &declaration.parameters);
    match &declaration.definition {
        Definition::Abstract => put(into, 0),
        Definition::Alias(id) => {
            put(into, 1);
            put_id(into, *id);
        }
        Definition::Record { fields, is_floats } => {
            put(into, 2);
            put_fields(into, fields);
            put(into, u64::from(*is_floats));
        }
        Definition::Variant(constructors) => {
            put(into, 3);
            put_list(into, constructors, put_constructor);
        }
        Definition::Unboxed(id) => {
            put(into, 4);
            put_id(into, *id);
        }
        Definition::Open => put(into, 5),
    }
}

fn put_constructor(into: &mut Vec<u8>, constructor: &Constructor) {
    put_bytes(into, constructor.name.as_bytes());
    put_optional(into, constructor.tag, |into, tag| put(into, u64::from(tag)));
    put_fields(into, &constructor.arguments);
    put_optional(into, constructor.result.as_deref(), put_ids);
}

fn put_extension(into: &mut Vec<u8>, extension: &Extension) {
    put_bytes(into, extension.name.as_bytes());
    put(into, u64::from(extension.of.0));
    put_fields(into, &extension.arguments);
    put_optional(into, extension.result.as_deref(), put_ids);
    put(into, u64::from(extension.is_record));
}

fn put_module(into: &mut Vec<u8>, module: &ModuleLayout, names: &mut FileNames) {
    put_bytes(into, module.name.as_bytes());
    put_list(into, &module.slots, |into, slot| put_slot(into, slot, names));
}

fn put_place(into: &mut Vec<u8>, place: Place) {
    put(into, u64::from(place.line));
    put(into, u64::from(place.column));
}

fn put_function(into: &mut Vec<u8>, function: &Function) {
    put_bytes(into, function.symbol.as_bytes());
    put(into, u64::from(function.is_anonymous));
    put_optional(into, function.place, |into, span| {
        put_place(into, span.start);
        put_place(into, span.end);
    });
    put(into, u64::from(function.words_before));
    put_list(into, &function.environment, |into, variable| {
        put_bytes(into, variable.name.as_bytes());
        put_optional(into, variable.ty, put_id);
    });
    put_list(into, &function.partial, |into, &place| put_place(into, place));
}

fn put_dynamic_tag(into: &mut Vec<u8>, tag: &DynamicTag) {
    put(into, u64::from(tag.of.0));
    put(into, u64::from(tag.hash));
    put_id(into, tag.ty);
}

fn put_named_functions(into: &mut Vec<u8>, unit: &NamedFunctions, names: &mut FileNames) {
    put_bytes(into, unit.unit.as_bytes());
    put_list(into, &unit.functions, |into, function| {
        put_bytes(into, function.name.as_bytes());
        names.put_position(into, function.position.as_ref());
    });
}

/// A slot and what it holds.
pub(crate) fn put_slot(into: &mut Vec<u8>, slot: &Slot, names: &mut FileNames) {
    put(into, slot.kind.code());
    put_list(into, &slot.path, |into, name| put_bytes(into, name.as_bytes()));
    put_bytes(into, slot.ty.as_bytes());
    names.put_position(into, slot.position.as_ref());
    put(into, slot.stamp.unwrap_or(0));
    match slot.content {
        Content::Unknown => put(into, 0),
        Content::Value(id) => {
            put(into, 1);
            put_id(into, id);
        }
        Content::Module(id) => {
            put(into, 2);
            put(into, u64::from(id.0));
        }
        Content::Extension(number) => {
            put(into, 3);
            put(into, u64::from(number));
        }
    }
}
