//! Texts by number, each once: names of types, and reasons why a type is not known.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// A text: a place in [`Texts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TextId(pub(crate) u32);

/// Texts.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    texts: Vec<String>,
    known: HashMap<String, TextId, FxBuildHasher>,
}

impl Texts {
    /// The number of a text.
    pub(crate) fn id(&mut self, text: &str) -> TextId {
        if let Some(id) = self.known.get(text) {
            return *id;
        }
        let id = TextId(self.texts.len() as u32);
        self.texts.push(text.to_owned());
        self.known.insert(text.to_owned(), id);
        id
    }

    /// The text of a number.
    pub(crate) fn get(&self, id: TextId) -> &str {
        self.texts.get(id.0 as usize).map_or("", String::as_str)
    }
}
