//! Names that are too long to be shown as a whole, cut at one end.

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
    fn long_names_are_cut() {
        assert_eq!(tail("Stdlib.Hashtbl.replace", 9), "….replace");
        assert_eq!(tail("map", 3), "map");
        assert_eq!(tail("écrire", 3), "…re");
        assert_eq!(head("écrire", 3), "écr…");
        assert_eq!(head("map", 3), "map");
    }
}
