//! Names as they are shown: cut at one end if they are too long, and without characters that do more than be seen.

use std::borrow::Cow;

/// A text without what moves the cursor, changes the direction of writing or joins characters:
/// names come from a file, and a file may hold anything.
pub fn clean(text: &str) -> Cow<'_, str> {
    let bad = |c: char| {
        c.is_control()
            || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
                | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E0FFF}')
    };
    if text.contains(bad) { text.replace(bad, "\u{FFFD}").into() } else { text.into() }
}

/// The first `letters` of a name, and `…` if there are more.
pub fn head(name: &str, letters: usize) -> String {
    match name.char_indices().nth(letters) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", &name[..end]),
    }
}

/// A name in at most this many letters: of a long one the end, which says more than the beginning.
pub fn tail(name: &str, letters: usize) -> String {
    let count = name.chars().count();
    if count <= letters {
        return name.to_owned();
    }
    let end: String = name.chars().skip(count + 1 - letters).collect();
    format!("…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_turn_others_around_are_replaced() {
        assert_eq!(clean("evil\u{202E}\u{7}.ml"), "evil\u{FFFD}\u{FFFD}.ml");
        assert!(matches!(clean("écrire <b>"), Cow::Borrowed("écrire <b>")));
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(tail("Stdlib.Hashtbl.replace", 9), "….replace");
        assert_eq!(tail("map", 3), "map");
        assert_eq!(tail("écrire", 3), "…re");
        assert_eq!(head("écrire", 3), "écr…");
        assert_eq!(head("map", 3), "map");
    }
}
