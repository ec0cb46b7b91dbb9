//! Types as text.

use memtrail_types::term::Term;

use crate::instances::{Type, TypeId};
use crate::shapes::Shapes;

/// Arguments of arguments are written so far.
const MAX_DEPTH: usize = 6;
/// Tags and methods that are written.
const MAX_PARTS: usize = 6;
/// Longer texts are cut.
const MAX_BYTES: usize = 300;

/// What a text is inside of: some need parentheses there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// Nothing, or what ends by itself.
    Whole,
    /// What a function takes.
    Taken,
    /// Anything else.
    Part,
}

/// A type as OCaml writes it; `_` is what is not known.
pub(crate) fn text(shapes: &Shapes<'_>, ty: TypeId) -> String {
    let mut text = String::new();
    write(shapes, ty, MAX_DEPTH, Level::Whole, &mut text);
    if text.len() > MAX_BYTES {
        let end = (0..=MAX_BYTES).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
        text.push('…');
    }
    text
}

/// Recursion ends with `depth`.
fn write(shapes: &Shapes<'_>, ty: TypeId, depth: usize, level: Level, into: &mut String) {
    if into.len() > MAX_BYTES {
        return;
    }
    let Some(depth) = depth.checked_sub(1) else {
        into.push('…');
        return;
    };
    let instances = &shapes.instances;
    match instances.get(ty) {
        Type::Unknown(_) | Type::OneOf(_) => into.push('_'),
        Type::Constant(name) | Type::String(name) | Type::Boxed(name) => {
            into.push_str(instances.texts.get(*name));
        }
        Type::Float => into.push_str("float"),
        Type::FloatArray => into.push_str("floatarray"),
        Type::Function if level != Level::Whole => into.push_str("(_ -> _)"),
        Type::Function => into.push_str("function"),
        Type::Arrow(..) => {
            into.push_str(if level == Level::Whole { "" } else { "(" });
            let mut at = ty;
            while let Type::Arrow(label, argument, result) = instances.get(at) {
                into.push_str(instances.texts.get(*label));
                write(shapes, *argument, depth, Level::Taken, into);
                into.push_str(" -> ");
                if into.len() > MAX_BYTES {
                    return;
                }
                at = *result;
            }
            write(shapes, at, depth, Level::Taken, into);
            into.push_str(if level == Level::Whole { "" } else { ")" });
        }
        Type::Tuple(parts) => {
            into.push_str(if level == Level::Part { "(" } else { "" });
            for (number, part) in parts.iter().enumerate() {
                into.push_str(if number > 0 { " * " } else { "" });
                write(shapes, *part, depth, Level::Part, into);
            }
            into.push_str(if level == Level::Part { ")" } else { "" });
        }
        Type::Array(part) => {
            write(shapes, *part, depth, Level::Part, into);
            into.push_str(" array");
        }
        Type::Lazy(part) => {
            write(shapes, *part, depth, Level::Part, into);
            into.push_str(" lazy_t");
        }
        Type::Declared(declaration, arguments) => {
            match &arguments[..] {
                [] => {}
                [only] => {
                    write(shapes, *only, depth, Level::Part, into);
                    into.push(' ');
                }
                several => {
                    into.push('(');
                    for (number, argument) in several.iter().enumerate() {
                        into.push_str(if number > 0 { ", " } else { "" });
                        write(shapes, *argument, depth, Level::Whole, into);
                    }
                    into.push_str(") ");
                }
            }
            let declaration = instances.table.declaration(*declaration);
            into.push_str(declaration.map_or("_", |declaration| &declaration.name));
        }
        Type::PolymorphicVariant(_, parts) => {
            let Some(Term::PolymorphicVariant(tags)) = shapes.term_of(ty) else { return };
            let mut parts = parts.iter();
            into.push('[');
            for (number, tag) in tags.iter().enumerate() {
                into.push_str(if number > 0 { " | " } else { " " });
                if number == MAX_PARTS {
                    into.push('…');
                    break;
                }
                into.push('`');
                into.push_str(&tag.name);
                if tag.argument.is_some()
                    && let Some(part) = parts.next()
                {
                    into.push_str(" of ");
                    write(shapes, *part, depth, Level::Part, into);
                }
            }
            into.push_str(" ]");
        }
        Type::Object(_, parts) => {
            let Some(Term::Object(methods)) = shapes.term_of(ty) else { return };
            into.push('<');
            for (number, (method, part)) in methods.iter().zip(parts).enumerate() {
                into.push_str(if number > 0 { "; " } else { " " });
                if number == MAX_PARTS {
                    into.push_str("..");
                    break;
                }
                into.push_str(&method.name);
                into.push_str(" : ");
                write(shapes, *part, depth, Level::Whole, into);
            }
            into.push_str(" >");
        }
        Type::Module(module) => {
            let name = instances.table.module(*module).map_or("_", |module| &module.name);
            into.push_str(if level == Level::Whole { "module " } else { "(module " });
            into.push_str(name);
            into.push_str(if level == Level::Whole { "" } else { ")" });
        }
        Type::Unit(unit) => {
            into.push_str("module ");
            into.push_str(shapes.units.get(*unit as usize).map_or("_", |unit| unit.name));
        }
        Type::Extension(extension) => {
            into.push_str("constructor ");
            let extension = instances.table.extensions.get(*extension as usize);
            into.push_str(extension.map_or("_", |extension| &extension.name));
        }
    }
}
