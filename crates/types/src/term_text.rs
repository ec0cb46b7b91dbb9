//! Terms as text, as OCaml writes types.

use crate::term::{Term, TermId, TypeTable};

/// Longer texts are cut.
const MAX_LENGTH: usize = 1_000;

/// Binds how tightly: what needs parentheses inside what.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// An argument of a constructor, without parentheses of its own: `int` in `int list`.
    Argument,
    /// A part of a tuple.
    Part,
    /// What a function takes.
    Taken,
    /// Anything.
    Whole,
}

/// What is left to write.
enum Piece<'a> {
    Text(&'a str),
    Term(TermId, Level),
}

impl TypeTable {
    /// A type as OCaml writes it: `(string * int) list`, `(string, session) Hashtbl.t`. What is not known is
    /// `_`, variables are `'a`, `'b`.
    pub fn text(&self, id: TermId) -> String {
        let mut text = String::new();
        let mut left = vec![Piece::Term(id, Level::Whole)];
        while let Some(piece) = left.pop() {
            if text.len() > MAX_LENGTH {
                text.push('\u{2026}');
                break;
            }
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Term(id, level) => {
                    let mut pieces = Vec::new();
                    self.pieces(id, level, &mut text, &mut pieces);
                    left.extend(pieces.into_iter().rev());
                }
            }
        }
        text
    }

    fn pieces<'a>(
        &'a self,
        id: TermId,
        level: Level,
        text: &mut String,
        left: &mut Vec<Piece<'a>>,
    ) {
        let Some(term) = self.term(id) else { return };
        match term {
            Term::Unknown(_) => text.push('_'),
            Term::Variable(number) => push_variable(text, *number),
            Term::Constant(name) | Term::String(name) | Term::Boxed(name) => text.push_str(name),
            Term::Float => text.push_str("float"),
            Term::FloatArray => text.push_str("floatarray"),
            Term::Function => text.push_str("(_ -> _)"),
            Term::Arrow(arrow) => {
                let is_inner = level < Level::Whole;
                left.push(Piece::Text(if is_inner { "(" } else { "" }));
                left.push(Piece::Text(&arrow.label));
                left.push(Piece::Term(arrow.argument, Level::Taken));
                left.push(Piece::Text(" -> "));
                left.push(Piece::Term(arrow.result, Level::Whole));
                left.push(Piece::Text(if is_inner { ")" } else { "" }));
            }
            Term::Tuple(parts) => {
                let is_inner = level < Level::Taken;
                left.push(Piece::Text(if is_inner { "(" } else { "" }));
                separated(left, " * ", parts.iter().map(|&part| Piece::Term(part, Level::Part)));
                left.push(Piece::Text(if is_inner { ")" } else { "" }));
            }
            Term::Array(part) => applied(left, std::slice::from_ref(part), "array"),
            Term::Lazy(part) => applied(left, std::slice::from_ref(part), "lazy_t"),
            Term::Declared(declaration, arguments) => {
                let name = self.declaration(*declaration).map_or("_", |found| &found.name);
                applied(left, arguments, name);
            }
            Term::PolymorphicVariant(tags) => {
                left.push(Piece::Text("[ "));
                for (number, tag) in tags.iter().enumerate() {
                    left.push(Piece::Text(if number == 0 { "`" } else { " | `" }));
                    left.push(Piece::Text(&tag.name));
                    if let Some(argument) = tag.argument {
                        left.push(Piece::Text(" of "));
                        left.push(Piece::Term(argument, Level::Whole));
                    }
                }
                left.push(Piece::Text(" ]"));
            }
            Term::Object(methods) => {
                left.push(Piece::Text("< "));
                for (number, method) in methods.iter().enumerate() {
                    left.push(Piece::Text(if number == 0 { "" } else { "; " }));
                    left.push(Piece::Text(&method.name));
                    left.push(Piece::Text(" : "));
                    left.push(Piece::Term(method.ty, Level::Whole));
                }
                left.push(Piece::Text(" >"));
            }
            Term::Package(module) => {
                left.push(Piece::Text("(module "));
                left.push(Piece::Text(self.module(*module).map_or("_", |found| &found.name)));
                left.push(Piece::Text(")"));
            }
        }
    }
}

/// `'a` to `'z`, then `'a1`.
fn push_variable(text: &mut String, number: u32) {
    text.push('\'');
    text.push(char::from(b'a' + (number % 26) as u8));
    if number >= 26 {
        text.push_str(&(number / 26).to_string());
    }
}

fn separated<'a>(
    left: &mut Vec<Piece<'a>>,
    separator: &'a str,
    pieces: impl Iterator<Item = Piece<'a>>,
) {
    for (number, piece) in pieces.enumerate() {
        if number > 0 {
            left.push(Piece::Text(separator));
        }
        left.push(piece);
    }
}

/// `int list`, `(string, int) Hashtbl.t`.
fn applied<'a>(left: &mut Vec<Piece<'a>>, arguments: &[TermId], name: &'a str) {
    match arguments {
        [] => {}
        [one] => {
            left.push(Piece::Term(*one, Level::Argument));
            left.push(Piece::Text(" "));
        }
        several => {
            left.push(Piece::Text("("));
            separated(left, ", ", several.iter().map(|&id| Piece::Term(id, Level::Whole)));
            left.push(Piece::Text(") "));
        }
    }
    left.push(Piece::Text(name));
}
