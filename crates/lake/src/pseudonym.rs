//! Names for a lake that is given away. Hashes with the lake's key replace names of the program; names of libraries stay.
//! A name has the same pseudonym in all recordings. Nobody without the key finds the name by guessing.

use std::borrow::Cow;

use crate::identity::Hasher;

/// Names as they are written.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    hasher: &'a Hasher,
    /// True for names of libraries; `None` if all names are written.
    is_library: Option<&'a dyn Fn(&str) -> bool>,
}

impl std::fmt::Debug for Names<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Names").field("are_real", &self.are_real()).finish_non_exhaustive()
    }
}

impl<'a> Names<'a> {
    /// All names, as they are.
    pub const fn real(hasher: &'a Hasher) -> Self {
        Self { hasher, is_library: None }
    }

    /// Pseudonyms for all names but those of libraries.
    pub const fn pseudonyms(hasher: &'a Hasher, is_library: &'a dyn Fn(&str) -> bool) -> Self {
        Self { hasher, is_library: Some(is_library) }
    }

    /// Makes ids.
    pub const fn hasher(&self) -> &'a Hasher {
        self.hasher
    }

    /// True if names are written as they are.
    pub const fn are_real(&self) -> bool {
        self.is_library.is_none()
    }

    /// `Shop.Cart.(fun)` as `M1f3a.M90c2.(fun)`.
    pub fn function<'n>(&self, name: &'n str) -> Cow<'n, str> {
        match self.is_library {
            Some(is_library) if !is_library(name) => Cow::Owned(self.parts(name)),
            _ => Cow::Borrowed(name),
        }
    }

    /// `src/cart.ml` as `file1f3a.ml`.
    pub fn file<'n>(&self, path: &'n str) -> Cow<'n, str> {
        if self.are_real() || path.is_empty() {
            return Cow::Borrowed(path);
        }
        let base = path.rsplit('/').next().unwrap_or(path);
        Cow::Owned(match base.rsplit_once('.') {
            Some((name, extension)) if extension.len() <= 4 => {
                format!("file{}.{extension}", self.digits(name))
            }
            _ => format!("file{}", self.digits(base)),
        })
    }

    /// A type or kind of blocks, or the name of an owner. Words of the language stay: `string`, `array`.
    pub fn text<'n>(&self, text: &'n str) -> Cow<'n, str> {
        let Some(is_library) = self.is_library else { return Cow::Borrowed(text) };
        let mut written = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            let word = rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len());
            if word == 0 {
                let end = rest.find(is_of_word).unwrap_or(rest.len());
                written.push_str(&rest[..end]);
                rest = &rest[end..];
                continue;
            }
            let (name, after) = rest.split_at(word);
            let is_known = WORDS.contains(&name)
                || name.starts_with(|c: char| c.is_ascii_digit())
                || is_library(name);
            if is_known {
                written.push_str(name);
            } else {
                written.push_str(&self.parts(name));
            }
            rest = after;
        }
        Cow::Owned(written)
    }

    /// A place: `cart.ml:12`.
    pub fn position(&self, position: &str) -> String {
        match position.rsplit_once(':') {
            Some((file, line)) if line.bytes().all(|byte| byte.is_ascii_digit()) => {
                format!("{}:{line}", self.file(file))
            }
            _ => self.file(position).into_owned(),
        }
    }

    fn parts(&self, name: &str) -> String {
        // Names of C++ and Rust have dots inside types, which tell nothing.
        if name.contains("::") {
            return format!("f{}", self.digits(name));
        }
        let part = |part: &str| match part.chars().next() {
            Some('(') | None => part.to_owned(),
            Some(first) if first.is_uppercase() => format!("M{}", self.digits(part)),
            _ => format!("f{}", self.digits(part)),
        };
        name.split('.').map(part).collect::<Vec<_>>().join(".")
    }

    fn digits(&self, name: &str) -> String {
        format!("{:08x}", self.hasher.hash(name.as_bytes()) as u64 >> 32)
    }
}

/// Words in names of types, kinds of blocks and roots that are not the program's.
const WORDS: [&str; 63] = [
    "abstract",
    "and",
    "array",
    "arrays",
    "atom",
    "bigarray",
    "block",
    "blocks",
    "bool",
    "boxed",
    "bytes",
    "char",
    "class",
    "closure",
    "closures",
    "constructor",
    "continuation",
    "custom",
    "data",
    "elements",
    "ephemeron",
    "exception",
    "exn",
    "field",
    "fields",
    "finaliser",
    "float",
    "floats",
    "forced",
    "forward",
    "free",
    "frame",
    "from",
    "global",
    "in",
    "int",
    "int32",
    "int64",
    "lazy",
    "list",
    "local",
    "main",
    "malloc",
    "memory",
    "more",
    "nativeint",
    "object",
    "of",
    "option",
    "or",
    "other",
    "kinds",
    "record",
    "ref",
    "stack",
    "static",
    "string",
    "tag",
    "thread",
    "to",
    "tuple",
    "variant",
    "weak",
];

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '\'' || c == '.' || c == ':'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::KEY_BYTES;

    fn is_library(name: &str) -> bool {
        name.starts_with("Stdlib")
    }

    #[test]
    fn names_of_the_program_are_gone_and_stay_distinct() {
        let hasher = Hasher::keyed([3; KEY_BYTES]);
        let names = Names::pseudonyms(&hasher, &is_library);
        let function = names.function("Shop.Cart.(fun)");
        assert!(function.starts_with('M') && function.ends_with(".(fun)"), "{function}");
        assert_ne!(names.function("Shop.add"), names.function("Shop.sub"));
        assert_eq!(names.function("Stdlib.List.map"), "Stdlib.List.map");
        let text = names.text("(Shop.cart, string) Stdlib.Hashtbl.t of 12 fields");
        assert!(text.ends_with(", string) Stdlib.Hashtbl.t of 12 fields"), "{text}");
        assert!(!text.contains("cart") && !text.contains("Shop"), "{text}");
        let position = names.position("/home/me/src/cart.ml:12");
        assert!(position.starts_with("file") && position.ends_with(".ml:12"), "{position}");
        for gone in ["home", "cart", "Cart"] {
            assert!(!format!("{function}{text}{position}").contains(gone));
        }
        let other = Hasher::keyed([4; KEY_BYTES]);
        let other = Names::pseudonyms(&other, &is_library);
        assert_ne!(other.function("Shop.add"), names.function("Shop.add"));
    }

    #[test]
    fn without_a_key_names_are_as_they_are() {
        let hasher = Hasher::default();
        let names = Names::real(&hasher);
        assert_eq!(names.function("Shop.add"), "Shop.add");
        assert_eq!(names.text("Shop.cart list"), "Shop.cart list");
        assert_eq!(names.position("src/cart.ml:1"), "src/cart.ml:1");
    }
}
