//! Reads the table of types: terms, declarations, modules, extensions, functions and tags of dynamic values.

use crate::error::{Cause, Error};
use crate::format::kind;
use crate::slot::{Position, Slot, SlotKind};
use crate::term::{
    Arrow, Constructor, Content, Declaration, DeclarationId, Definition, DynamicTag, Extension,
    FreeVariable, Function, LabelledField, Method, ModuleId, ModuleLayout, NamedFunction,
    NamedFunctions, Place, PolymorphicTag, Span, Term, TermId, TypeTable,
};
use memtrail_leb128::Cursor;

/// A section's kind, its offset and its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section<'a> {
    pub(crate) at: usize,
    pub(crate) kind: u64,
    pub(crate) payload: &'a [u8],
}

/// The table that these sections have; others are passed over.
pub(crate) fn table(sections: &[Section<'_>]) -> Result<TypeTable, Error> {
    let files = rows(sections, kind::FILES, Cursor::text)?;
    let table = TypeTable {
        terms: rows(sections, kind::TERMS, term)?,
        declarations: rows(sections, kind::DECLARATIONS, |p| declaration(p, &files))?,
        modules: rows(sections, kind::MODULES, |p| module(p, &files))?,
        extensions: rows(sections, kind::EXTENSIONS, extension)?,
        functions: rows(sections, kind::CLOSURES, function)?,
        dynamic: rows(sections, kind::DYNAMIC, dynamic_tag)?,
        named: rows(sections, kind::NAMED, |p| named_functions(p, &files))?,
    };
    let end = sections.last().map_or(0, |last| last.at);
    if is_consistent(&table) { Ok(table) } else { Err(Cause::Section("table of types").at(end)) }
}

/// All rows of one kind: each of its sections has rows until it ends.
fn rows<'a, T>(
    sections: &[Section<'a>],
    kind: u64,
    row: impl Fn(&mut Cursor<'a>) -> Option<T>,
) -> Result<Vec<T>, Error> {
    let mut rows = Vec::new();
    for section in sections.iter().filter(|section| section.kind == kind) {
        let mut payload = Cursor::new(section.payload);
        while !payload.is_at_end() {
            let row = row(&mut payload).ok_or(Cause::Section("table of types").at(section.at))?;
            rows.push(row);
        }
    }
    Ok(rows)
}

fn list<T>(
    payload: &mut Cursor<'_>,
    mut element: impl FnMut(&mut Cursor<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let count = payload.count()?;
    (0..count).map(|_| element(payload)).collect()
}

/// The outer `None` is damage.
#[expect(clippy::option_option, reason = "it may be missing, and it may be damaged")]
fn optional<T>(
    payload: &mut Cursor<'_>,
    value: impl FnOnce(&mut Cursor<'_>) -> Option<T>,
) -> Option<Option<T>> {
    match payload.number()? {
        0 => Some(None),
        1 => value(payload).map(Some),
        _ => None,
    }
}

fn small(payload: &mut Cursor<'_>) -> Option<u32> {
    u32::try_from(payload.number()?).ok()
}

fn flag(payload: &mut Cursor<'_>) -> Option<bool> {
    match payload.number()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

fn term_id(payload: &mut Cursor<'_>) -> Option<TermId> {
    small(payload).map(TermId)
}

fn term_ids(payload: &mut Cursor<'_>) -> Option<Vec<TermId>> {
    list(payload, term_id)
}

fn term(payload: &mut Cursor<'_>) -> Option<Term> {
    Some(match payload.number()? {
        0 => Term::Unknown(payload.text()?),
        1 => Term::Variable(small(payload)?),
        2 => Term::Constant(payload.text()?),
        3 => Term::String(payload.text()?),
        4 => Term::Float,
        5 => Term::Boxed(payload.text()?),
        6 => Term::Function,
        7 => Term::Tuple(term_ids(payload)?),
        8 => Term::Array(term_id(payload)?),
        9 => Term::FloatArray,
        10 => Term::Lazy(term_id(payload)?),
        11 => Term::Declared(DeclarationId(small(payload)?), term_ids(payload)?),
        12 => Term::PolymorphicVariant(list(payload, |payload| {
            let name = payload.text()?;
            Some(PolymorphicTag { name, argument: optional(payload, term_id)? })
        })?),
        13 => Term::Object(list(payload, |payload| {
            let name = payload.text()?;
            Some(Method { name, ty: term_id(payload)? })
        })?),
        14 => Term::Package(ModuleId(small(payload)?)),
        15 => Term::Arrow(Arrow {
            label: payload.text()?,
            argument: term_id(payload)?,
            result: term_id(payload)?,
        }),
        _ => return None,
    })
}

fn fields(payload: &mut Cursor<'_>) -> Option<Vec<LabelledField>> {
    list(payload, |payload| {
        let name = payload.text()?;
        Some(LabelledField { name, ty: term_id(payload)? })
    })
}

/// A position; the outer `None` is damage.
#[expect(clippy::option_option, reason = "it may be missing, and it may be damaged")]
pub(crate) fn position(payload: &mut Cursor<'_>, files: &[String]) -> Option<Option<Position>> {
    let (file, line, column) = (payload.number()?, payload.number()?, payload.number()?);
    match file.checked_sub(1) {
        None => Some(None),
        Some(file) => {
            let file = files.get(usize::try_from(file).ok()?)?.clone();
            Some(Some(Position { file, line, column }))
        }
    }
}

fn declaration(payload: &mut Cursor<'_>, files: &[String]) -> Option<Declaration> {
    Some(Declaration {
        name: payload.text()?,
        position: position(payload, files)?,
        variables: small(payload)?,
        parameters: term_ids(payload)?,
        definition: definition(payload)?,
    })
}

fn definition(payload: &mut Cursor<'_>) -> Option<Definition> {
    Some(match payload.number()? {
        0 => Definition::Abstract,
        1 => Definition::Alias(term_id(payload)?),
        2 => Definition::Record { fields: fields(payload)?, is_floats: flag(payload)? },
        3 => Definition::Variant(list(payload, constructor)?),
        4 => Definition::Unboxed(term_id(payload)?),
        5 => Definition::Open,
        _ => return None,
    })
}

fn constructor(payload: &mut Cursor<'_>) -> Option<Constructor> {
    Some(Constructor {
        name: payload.text()?,
        tag: optional(payload, |payload| u8::try_from(payload.number()?).ok())?,
        arguments: fields(payload)?,
        result: optional(payload, term_ids)?,
    })
}

fn extension(payload: &mut Cursor<'_>) -> Option<Extension> {
    Some(Extension {
        name: payload.text()?,
        of: DeclarationId(small(payload)?),
        arguments: fields(payload)?,
        result: optional(payload, term_ids)?,
        is_record: flag(payload)?,
    })
}

fn module(payload: &mut Cursor<'_>, files: &[String]) -> Option<ModuleLayout> {
    let name = payload.text()?;
    let slots = list(payload, |payload| {
        let slot = slot(payload, files)?;
        Some(Slot { content: content(payload)?, ..slot })
    })?;
    Some(ModuleLayout { name, slots })
}

fn place(payload: &mut Cursor<'_>) -> Option<Place> {
    Some(Place { line: small(payload)?, column: small(payload)? })
}

fn function(payload: &mut Cursor<'_>) -> Option<Function> {
    Some(Function {
        symbol: payload.text()?,
        is_anonymous: flag(payload)?,
        place: optional(payload, |payload| {
            Some(Span { start: place(payload)?, end: place(payload)? })
        })?,
        words_before: small(payload)?,
        environment: list(payload, |payload| {
            let name = payload.text()?;
            Some(FreeVariable { name, ty: optional(payload, term_id)? })
        })?,
        partial: list(payload, place)?,
    })
}

fn dynamic_tag(payload: &mut Cursor<'_>) -> Option<DynamicTag> {
    let of = DeclarationId(small(payload)?);
    Some(DynamicTag { of, hash: small(payload)?, ty: term_id(payload)? })
}

fn named_functions(payload: &mut Cursor<'_>, files: &[String]) -> Option<NamedFunctions> {
    let unit = payload.text()?;
    let functions = list(payload, |payload| {
        Some(NamedFunction { name: payload.text()?, position: position(payload, files)? })
    })?;
    Some(NamedFunctions { unit, functions })
}

/// A slot without what it holds.
pub(crate) fn slot(payload: &mut Cursor<'_>, files: &[String]) -> Option<Slot> {
    let kind = SlotKind::from_code(payload.number()?)?;
    let names = payload.count()?;
    let path = (0..names).map(|_| payload.text()).collect::<Option<_>>()?;
    let ty = payload.text()?;
    let position = position(payload, files)?;
    let stamp = Some(payload.number()?).filter(|&stamp| stamp != 0);
    Some(Slot { kind, path, ty, position, stamp, content: Content::Unknown })
}

/// What a slot holds.
pub(crate) fn content(payload: &mut Cursor<'_>) -> Option<Content> {
    Some(match payload.number()? {
        0 => Content::Unknown,
        1 => Content::Value(term_id(payload)?),
        2 => Content::Module(ModuleId(small(payload)?)),
        3 => Content::Extension(small(payload)?),
        _ => return None,
    })
}

/// Contents of a unit's slots, in order.
pub(crate) fn contents(payload: &mut Cursor<'_>) -> Option<Vec<Content>> {
    list(payload, content)
}

/// Whether a table has what a slot speaks of.
pub(crate) fn has_content(table: &TypeTable, content: Content) -> bool {
    match content {
        Content::Unknown => true,
        Content::Value(id) => table.term(id).is_some(),
        Content::Module(id) => table.module(id).is_some(),
        Content::Extension(number) => table.extensions.len() > number as usize,
    }
}

/// Whether everything that is spoken of is there, and parts of terms are before them.
fn is_consistent(table: &TypeTable) -> bool {
    let has_term = |id: TermId| table.term(id).is_some();
    let all = |ids: &[TermId]| ids.iter().all(|&id| has_term(id));
    let all_fields = |fields: &[LabelledField]| fields.iter().all(|field| has_term(field.ty));
    let result = |result: &Option<Vec<TermId>>| result.as_deref().is_none_or(all);
    let terms = table.terms.iter().enumerate().all(|(number, term)| {
        let is_before = |id: TermId| (id.0 as usize) < number;
        match term {
            Term::Tuple(parts) => parts.iter().all(|&id| is_before(id)),
            Term::Array(part) | Term::Lazy(part) => is_before(*part),
            Term::Arrow(arrow) => is_before(arrow.argument) && is_before(arrow.result),
            Term::Declared(declaration, arguments) => {
                table.declaration(*declaration).is_some()
                    && arguments.iter().all(|&id| is_before(id))
            }
            Term::PolymorphicVariant(tags) => {
                tags.iter().all(|tag| tag.argument.is_none_or(is_before))
            }
            Term::Object(methods) => methods.iter().all(|method| is_before(method.ty)),
            Term::Package(module) => table.module(*module).is_some(),
            _ => true,
        }
    });
    let declarations = table.declarations.iter().all(|declaration| {
        all(&declaration.parameters)
            && match &declaration.definition {
                Definition::Abstract | Definition::Open => true,
                Definition::Alias(id) | Definition::Unboxed(id) => has_term(*id),
                Definition::Record { fields, .. } => all_fields(fields),
                Definition::Variant(constructors) => {
                    constructors.iter().all(|one| all_fields(&one.arguments) && result(&one.result))
                }
            }
    });
    let slots =
        |layout: &ModuleLayout| layout.slots.iter().all(|slot| has_content(table, slot.content));
    let is_extension = |extension: &Extension| {
        table.declaration(extension.of).is_some()
            && all_fields(&extension.arguments)
            && result(&extension.result)
    };
    let is_function = |function: &Function| {
        function.environment.iter().all(|variable| variable.ty.is_none_or(has_term))
    };
    terms
        && declarations
        && table.modules.iter().all(slots)
        && table.extensions.iter().all(is_extension)
        && table.functions.iter().all(is_function)
        && table.dynamic.iter().all(|tag| has_term(tag.ty) && table.declaration(tag.of).is_some())
}
