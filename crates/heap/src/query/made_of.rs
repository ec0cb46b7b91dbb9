//! What a block is made of, in words, where neither its type nor a function in it is known: `a block with 12 strings`.

use super::heap::Heap;
use super::kind::Kind;

/// What a field points to, if that has a name of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    /// Words without the header.
    pub(super) size: u64,
}

/// The tables of a lexer that `ocamllex` made are a record of so many strings (`stdlib/lexing.ml`).
const LEXER_TABLES: usize = 11;
/// Fields of these whose strings have the same length, as each has a number for each state, or for each transition. Those
/// of actions on tags are empty in lexers without any.
const SAME_LENGTH: [&[usize]; 4] = [&[0, 1, 2], &[3, 4], &[5, 6, 7], &[8, 9]];

/// What the parts of a block of so many fields tell, which are `steps` further blocks away. The order of kinds that are
/// equally many is that of fields.
pub(super) fn text(
    heap: &Heap<'_>,
    fields: u64,
    steps: usize,
    parts: impl Iterator<Item = Part>,
) -> Option<String> {
    let parts: Vec<Part> = parts.collect();
    if steps == 0 && fields == LEXER_TABLES as u64 && are_lexer_tables(&parts) {
        return Some("~ Lexing.lex_tables".to_owned());
    }
    let mut counts: Vec<(Kind, usize)> = Vec::new();
    for Part { kind, .. } in parts {
        match counts.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => counts.push((kind, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max()?;
    let (kind, count) = counts.into_iter().find(|(_, count)| *count == most)?;
    let name = kind.name(&heap.snapshot, &heap.types);
    Some(match (steps, kind, count) {
        (0, Kind::String, 1) => "a block with a string".to_owned(),
        (0, Kind::String, count) => format!("a block with {count} strings"),
        (0, _, 1) => format!("a block with {name}"),
        (0, _, count) => format!("a block with {name}, {count} times"),
        (_, Kind::String, _) => "a block that leads to strings".to_owned(),
        _ => format!("a block that leads to {name}"),
    })
}

/// Whether these strings may be the tables of a lexer.
fn are_lexer_tables(parts: &[Part]) -> bool {
    let size = |place: &usize| parts.get(*place).map(|part| part.size);
    parts.len() == LEXER_TABLES
        && parts.iter().all(|part| part.kind == Kind::String)
        && SAME_LENGTH
            .iter()
            .all(|places| places.iter().all(|place| size(place) == places.first().and_then(size)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_lexers_are_recognised_by_their_lengths() {
        let strings =
            |sizes: [u64; 11]| sizes.map(|size| Part { kind: Kind::String, size }).to_vec();
        let tables = [40, 40, 40, 900, 900, 1, 1, 1, 1, 1, 1];
        assert!(are_lexer_tables(&strings(tables)));
        let mut other = tables;
        other[4] = 899;
        assert!(!are_lexer_tables(&strings(other)), "transitions without a check");
        let mut block = strings(tables);
        block[10].kind = Kind::Float;
        assert!(!are_lexer_tables(&block), "not a string");
        assert!(!are_lexer_tables(&block[..10]));
    }
}
