//! Figures by allocation site, added up over processes.

use std::collections::HashMap;

use serde::Serialize;

use crate::heap::sites;

/// Figures that can be added up.
pub(super) trait Sum {
    /// Adds those of one more site or process.
    fn add(&mut self, more: Self);
}

/// A place in the program: a function, and its file and line if they are known.
pub(super) type Site = (String, Option<String>, Option<u32>);

/// An allocation site, with sums over all processes.
#[derive(Serialize)]
pub(super) struct Row<S, P> {
    pub(super) name: String,
    file: Option<String>,
    pub(super) line: Option<u32>,
    #[serde(flatten)]
    pub(super) sums: S,
    /// The processes that have blocks of it.
    pub(super) processes: Vec<Part<P>>,
}

/// What a site has in one process.
#[derive(Serialize)]
pub(super) struct Part<P> {
    recording: String,
    #[serde(flatten)]
    pub(super) of: P,
}

/// Rows by their sites. The sites of a process are added one after another.
pub(super) struct BySite<S, P> {
    rows: Vec<Row<S, P>>,
    places: HashMap<Site, usize>,
}

impl<S, P> Default for BySite<S, P> {
    fn default() -> Self {
        Self { rows: Vec::new(), places: HashMap::new() }
    }
}

impl<S: Sum, P: Sum> BySite<S, P> {
    /// Adds what a site has in a process.
    pub(super) fn add(&mut self, site: Site, recording: &str, sums: S, of: P) {
        let part = Part { recording: recording.to_owned(), of };
        let place = *self.places.entry(site.clone()).or_insert(self.rows.len());
        let Some(row) = self.rows.get_mut(place) else {
            let (name, file, line) = site;
            return self.rows.push(Row { name, file, line, sums, processes: vec![part] });
        };
        row.sums.add(sums);
        // Two sites of one line are one row.
        match row.processes.last_mut().filter(|last| last.recording == part.recording) {
            Some(last) => last.of.add(part.of),
            None => row.processes.push(part),
        }
    }

    /// All rows.
    pub(super) fn rows(self) -> Vec<Row<S, P>> {
        self.rows
    }
}

impl<S, P> Row<S, P> {
    /// Its site, as tables have it.
    pub(super) fn place(&self) -> String {
        sites::place(&self.name, self.file.as_deref(), self.line)
    }
}
