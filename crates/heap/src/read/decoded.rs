//! Sections that were decoded with all that is known of their blocks, and are kept for another pass.

use super::columns::Columns;

/// Sections of a snapshot that are decoded, by number. Others have to be decoded when they are needed.
#[derive(Debug, Default)]
pub struct DecodedSections(Vec<Option<Box<Columns>>>);

impl DecodedSections {
    /// None yet, of a snapshot with so many sections.
    pub fn new(sections: usize) -> Self {
        Self((0..sections).map(|_| None).collect())
    }

    /// A section, if it is kept.
    pub fn get(&self, section: usize) -> Option<&Columns> {
        self.0.get(section)?.as_deref()
    }

    /// Takes a section out, if it is kept.
    pub fn take(&mut self, section: usize) -> Option<Box<Columns>> {
        self.0.get_mut(section)?.take()
    }

    /// Keeps a section, which has to be decoded with the numbers of fields.
    pub fn put(&mut self, section: usize, columns: Box<Columns>) {
        if let Some(place) = self.0.get_mut(section) {
            *place = Some(columns);
        }
    }
}
