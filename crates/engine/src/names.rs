//! The answers to [`Names`] and
//! [`Complete`], and names in other answers.

use memtrail_profile::calls::{Entities, Entity, Kind, Label};
use memtrail_profile::processes::processes;
use memtrail_profile::threads::Threads;
use serde::Serialize;

use crate::query::{Complete, Named, Names};
use crate::recording::Recording;
use crate::response_body::ResponseBody;

/// Entities at most.
const MAX_NAMES: usize = 10_000;
/// Names to choose from at most.
const MAX_CHOICES: usize = 100;
/// Rows at most.
const MAX_ROWS: usize = 10_000;
/// Rows that a page shows at a time, at most. Who asks for more wants a copy of the table.
const MAX_ROWS_SHOWN: usize = 1000;
/// Letters of what is only shown, not asked with.
const MAX_SHOWN: usize = 300;

/// What entities are, in the order of the query; none where there is no such entity, or no room for it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct NamesResponse<'a> {
    names: Vec<Option<Name<'a>>>,
}

/// A function, a call site, or one of the ends of all paths.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[expect(clippy::struct_field_names, reason = "as the page reads it")]
pub(crate) struct Name<'a> {
    key: &'a str,
    name: String,
    kind: Kind,
    module: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    /// The first column, from 0.
    start: Option<u32>,
    /// The column after the last.
    end: Option<u32>,
}

/// What a row of a table is about.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct RowName<'a> {
    pub(crate) key: &'a str,
    pub(crate) label: String,
    pub(crate) module: Option<String>,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
    /// Number of the function or site, if it is one.
    pub(crate) entity: Option<u32>,
}

/// Names that a text may become.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct CompleteResponse<'a> {
    values: Vec<&'a str>,
}

/// Bytes that the names in an answer may have. Real ones never have as many; those of a hostile
/// trace must not make answers grow without bound.
#[derive(Debug)]
pub(crate) struct Budget(usize);

impl Budget {
    pub(crate) const fn new() -> Self {
        Self(200_000)
    }

    /// For what stands beside other answers.
    pub(crate) const fn small() -> Self {
        Self(60_000)
    }

    /// For a copy of a whole table.
    pub(crate) const fn large() -> Self {
        Self(8_000_000)
    }

    /// Whether there is still room for something.
    pub(crate) fn take(&mut self, bytes: usize) -> bool {
        match self.0.checked_sub(bytes) {
            Some(left) => {
                self.0 = left;
                true
            }
            None => false,
        }
    }
}

/// As many rows as there may be, and as their keys, of these lengths, have room in an answer.
pub(crate) fn affordable<T>(rows: &[T], key: impl Fn(&T) -> usize) -> &[T] {
    let mut budget = if rows.len() > MAX_ROWS_SHOWN { Budget::large() } else { Budget::new() };
    // The key, and what is shown of it, of its module and of its file.
    let fits = |row: &&T| budget.take(120 + key(row) + key(row).min(300) * 3);
    &rows[..rows.iter().take(MAX_ROWS).take_while(fits).count()]
}

/// What is shown of a name: in the page, too, no name turns the text around that is beside it.
pub(crate) fn shown(name: &str) -> String {
    memtrail_text::names::head(&memtrail_text::names::clean(name), MAX_SHOWN)
}

pub(crate) fn names(recording: &Recording, query: &Names) -> ResponseBody {
    let entities = &recording.entities;
    let mut budget = Budget::new();
    let name = |&id: &u32| {
        if id as usize >= entities.len() {
            return None;
        }
        let entity = Entity(id);
        let position = entities.position(entity);
        budget.take(100 + entities.key(entity).len()).then(|| Name {
            key: entities.key(entity),
            name: shown(entities.name(entity)),
            kind: entities.kind(entity),
            module: module(entities, entity),
            file: position.map(|position| shown(entities.file_name(position.file))),
            line: position.map(|position| position.line),
            start: position.map(|position| position.start),
            end: position.map(|position| position.end),
        })
    };
    let names = query.entities.iter().take(MAX_NAMES).map(name).collect();
    ResponseBody::new(NamesResponse { names })
}

fn module(entities: &Entities, entity: Entity) -> Option<String> {
    entities.module(entity).map(|module| shown(entities.module_name(module)))
}

/// What a row of a table is about.
pub(crate) fn row(entities: &Entities, label: Label) -> RowName<'_> {
    let key = entities.label_key(label);
    match label {
        Label::Entity(entity) => {
            let position = entities.position(entity);
            RowName {
                key,
                label: match entities.kind(entity) {
                    Kind::Module => format!("{} (module)", shown(entities.name(entity))),
                    _ => shown(entities.name(entity)),
                },
                module: module(entities, entity),
                file: position.map(|position| shown(entities.file_name(position.file))),
                line: position.map(|position| position.line),
                entity: Some(entity.0),
            }
        }
        Label::Module(_) => RowName {
            key,
            label: if key.is_empty() { "(no module)".to_owned() } else { shown(key) },
            module: Some(shown(key)),
            file: None,
            line: None,
            entity: None,
        },
        Label::File(_) => RowName {
            key,
            label: if key.is_empty() { "(no file)".to_owned() } else { shown(key) },
            module: None,
            file: Some(shown(key)),
            line: None,
            entity: None,
        },
    }
}

/// Names that have a text, in any case: those that begin with it first, then the shorter ones.
pub(crate) fn complete(recording: &Recording, query: &Complete) -> ResponseBody {
    let entities = &recording.entities;
    let text = query.text.to_lowercase();
    let processes = match query.kind {
        Named::Process => processes(recording.profile()).into_values().collect(),
        _ => Vec::new(),
    };
    let mut found: Vec<(bool, usize, &str)> = Vec::new();
    let mut look = |name| {
        if let Some(at) = position(name, &text) {
            found.push((at > 0, str::len(name), name));
        }
    };
    match query.kind {
        Named::Function => (0..entities.len() as u32)
            .map(Entity)
            .filter(|&entity| entities.kind(entity) == Kind::Function)
            .for_each(|entity| look(entities.key(entity))),
        Named::Module => entities.modules().iter().for_each(|name| look(name)),
        Named::File => entities.files().iter().for_each(|name| look(name)),
        Named::Thread => {
            let threads = recording.profile().threads.as_ref();
            threads.map_or(&[][..], Threads::names).iter().for_each(|name| look(name));
        }
        Named::Process => processes.iter().for_each(|process| look(&process.label)),
    }
    found.retain(|(.., name)| !name.is_empty());
    found.sort_unstable();
    found.dedup();
    let mut budget = Budget::new();
    let values = found
        .into_iter()
        .map(|(.., name)| name)
        .filter(|name| budget.take(name.len()))
        .take(query.limit.min(MAX_CHOICES))
        .collect();
    ResponseBody::new(CompleteResponse { values })
}

/// Where a name has a text that is in lower case.
fn position(name: &str, text: &str) -> Option<usize> {
    if name.is_ascii() && text.is_ascii() {
        let (name, text) = (name.as_bytes(), text.as_bytes());
        if text.is_empty() {
            return Some(0);
        }
        return name.windows(text.len()).position(|part| part.eq_ignore_ascii_case(text));
    }
    name.to_lowercase().find(text)
}
