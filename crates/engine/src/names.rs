//! The answers to [`Ask::Names`](crate::query::Query::Names) and
//! [`Ask::Complete`](crate::query::Query::Complete), and names in other answers.

use memtrail_profile::calls::{Entities, Entity, Kind, Label};
use memtrail_profile::threads::Threads;
use serde_json::{Value, json};

use crate::query::{Complete, Named, Names};
use crate::recording::Recording;
use crate::response_body::ResponseBody;

/// Entities at most.
const MOST_NAMES: usize = 10_000;
/// Names to choose from at most.
const MOST_CHOICES: usize = 100;
/// Letters of what is only shown, not asked with.
const LONGEST_SHOWN: usize = 300;

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

/// What is shown of a name.
pub(crate) fn shown(name: &str) -> String {
    match name.char_indices().nth(LONGEST_SHOWN) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", &name[..end]),
    }
}

pub(crate) fn names(recording: &Recording, ask: &Names) -> ResponseBody {
    let entities = &recording.entities;
    let mut budget = Budget::new();
    let name = |&id: &u32| -> Value {
        // Of what does not exist, and of what would be too much, there is nothing.
        if id as usize >= entities.len() {
            return Value::Null;
        }
        let entity = Entity(id);
        let position = entities.position(entity);
        let value = json!({
            "key": entities.key(entity),
            "name": shown(entities.name(entity)),
            "kind": entities.kind(entity),
            "module": module(entities, entity),
            "file": position.map(|position| shown(entities.file_name(position.file))),
            "line": position.map(|position| position.line),
            "start": position.map(|position| position.start),
            "end": position.map(|position| position.end),
        });
        if budget.take(100 + entities.key(entity).len()) { value } else { Value::Null }
    };
    let names: Vec<Value> = ask.entities.iter().take(MOST_NAMES).map(name).collect();
    ResponseBody::new(json!({ "names": names }))
}

fn module(entities: &Entities, entity: Entity) -> Option<String> {
    entities.module(entity).map(|module| shown(entities.module_name(module)))
}

/// What a row of a table is about: `key`, `label`, `module`, `file`, `line`, `entity`.
pub(crate) fn row(entities: &Entities, label: Label) -> Value {
    let key = entities.label_key(label);
    match label {
        Label::Entity(entity) => {
            let position = entities.position(entity);
            json!({
                "key": key,
                "label": shown(entities.name(entity)),
                "module": module(entities, entity),
                "file": position.map(|position| shown(entities.file_name(position.file))),
                "line": position.map(|position| position.line),
                "entity": entity.0,
            })
        }
        Label::Module(_) => json!({
            "key": key,
            "label": if key.is_empty() { "(no module)".to_owned() } else { shown(key) },
            "module": shown(key),
            "file": null,
            "line": null,
            "entity": null,
        }),
        Label::File(_) => json!({
            "key": key,
            "label": if key.is_empty() { "(no file)".to_owned() } else { shown(key) },
            "module": null,
            "file": shown(key),
            "line": null,
            "entity": null,
        }),
    }
}

/// Names that have a text, in any case: those that begin with it first, then the shorter ones.
pub(crate) fn complete(recording: &Recording, ask: &Complete) -> ResponseBody {
    let entities = &recording.entities;
    let text = ask.text.to_lowercase();
    let mut found: Vec<(bool, usize, &str)> = Vec::new();
    let mut look = |name| {
        if let Some(at) = position(name, &text) {
            found.push((at > 0, str::len(name), name));
        }
    };
    match ask.kind {
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
    }
    found.retain(|(.., name)| !name.is_empty());
    found.sort_unstable();
    found.dedup();
    let mut budget = Budget::new();
    let values: Vec<&str> = found
        .into_iter()
        .map(|(.., name)| name)
        .filter(|name| budget.take(name.len()))
        .take(ask.limit.min(MOST_CHOICES))
        .collect();
    ResponseBody::new(json!({ "values": values }))
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
