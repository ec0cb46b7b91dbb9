//! Retaining paths in one line, as programmers write them.

use crate::block_types::BlockType;

/// What a block is called among others of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A constructor, or another part of a structure.
    Constructor(String),
    /// The type's name without its arguments.
    Whole(String),
}

impl Part {
    pub(super) fn new(of: &BlockType) -> Self {
        match &of.constructor {
            Some(constructor) => Self::Constructor(constructor.clone()),
            None => Self::whole(of),
        }
    }

    /// The whole structure that a block is a part of.
    pub(super) fn whole(of: &BlockType) -> Self {
        Self::Whole(without_arguments(&of.name).to_owned())
    }
}

/// A type's name without its arguments: `Hashtbl.t` of `(string, page) Hashtbl.t`. Of tuples and functions, all of it.
fn without_arguments(name: &str) -> &str {
    let mut depth = 0usize;
    let mut last = 0;
    let mut before = ' ';
    for (at, character) in name.char_indices() {
        let is_arrow = std::mem::replace(&mut before, character) == '-' && character == '>';
        match character {
            '>' if is_arrow && depth == 0 => return name,
            '>' if is_arrow => {}
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | '>' | ']' | '}' => depth = depth.saturating_sub(1),
            '*' if depth == 0 => return name,
            ' ' if depth == 0 => last = at + 1,
            _ => {}
        }
    }
    name.get(last..).filter(|rest| !rest.is_empty()).unwrap_or(name)
}

/// Steps of a path that are written out, from each end.
const MAX_WRITTEN: usize = 12;

/// A block of a path, or several alike that follow each other.
pub(super) struct Segment<'s> {
    /// Its kind.
    pub(super) kind: &'s str,
    /// What it is called, if its type is known.
    pub(super) part: Option<&'s Part>,
    /// The field that leads on: `.data`.
    pub(super) field: String,
    /// Whether it is several.
    pub(super) is_many: bool,
}

/// A path from a root in one line. A record or array that the field of a record leads to is written behind
/// that field; a constructor, and what a constructor's field leads to, stands by itself.
pub(super) fn text<'s>(root: Option<String>, blocks: impl Iterator<Item = Segment<'s>>) -> String {
    let mut written: Vec<String> = root.into_iter().collect();
    // Whether the next block can be written behind the last one.
    let mut is_open = !written.is_empty();
    for Segment { kind, part, field, is_many } in blocks {
        let many = if is_many { " …" } else { "" };
        match (part, written.last_mut()) {
            (Some(Part::Whole(_)), Some(last)) if is_open && !is_many => {
                last.push_str(&field);
                continue;
            }
            (Some(Part::Whole(name) | Part::Constructor(name)), _) => {
                written.push(format!("{name}{field}{many}"));
            }
            (None, _) => written.push(format!("{kind}{field}{many}")),
        }
        is_open = matches!(part, Some(Part::Whole(_)));
    }
    if let Some(left_out) = written.len().checked_sub(2 * MAX_WRITTEN).filter(|count| *count > 0) {
        let gap = format!("… {left_out} more …");
        written.splice(MAX_WRITTEN..MAX_WRITTEN + left_out, [gap]);
    }
    written.join(" → ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_types_are_without_arguments() {
        for (name, expected) in [
            ("(string, page) Hashtbl.t", "Hashtbl.t"),
            ("page", "page"),
            ("int list array", "array"),
            ("string * int", "string * int"),
            ("(string * int) list", "list"),
            ("< get : int >", "< get : int >"),
            ("int -> string list", "int -> string list"),
            ("((int -> string) * int) list", "list"),
            ("(< get : int -> int > * int, 'a) Hashtbl.t", "Hashtbl.t"),
            ("", ""),
        ] {
            assert_eq!(without_arguments(name), expected);
        }
    }

    #[test]
    fn records_and_arrays_continue_and_constructors_stand_by_themselves() {
        let whole = |name: &str| Some(Part::Whole(name.into()));
        let constructor = |name: &str| Some(Part::Constructor(name.into()));
        let parts = [
            (whole("Hashtbl.t"), ".data", false),
            (whole("array"), ".(17)", false),
            (constructor("Cons"), ".data", false),
            (whole("page"), ".body", false),
            (constructor("::"), ".1", true),
            (None, ".2", false),
            (whole("string"), "", false),
        ];
        let segments = parts.iter().map(|(part, field, is_many)| Segment {
            kind: "tag 3, 4 fields",
            part: part.as_ref(),
            field: (*field).into(),
            is_many: *is_many,
        });
        let expected =
            "Cache.table.data.(17) → Cons.data → page.body → ::.1 … → tag 3, 4 fields.2 → string";
        assert_eq!(text(Some("Cache.table".into()), segments), expected);
        assert_eq!(text(None, std::iter::empty()), "");
    }

    #[test]
    fn long_paths_lose_their_middle() {
        let part = Part::Constructor("N".into());
        let segment =
            || Segment { kind: "", part: Some(&part), field: String::new(), is_many: false };
        let text = text(None, (0..100).map(|_| segment()));
        assert_eq!(text.matches('N').count(), 24);
        assert!(text.contains(" → … 76 more … → "));
    }
}
