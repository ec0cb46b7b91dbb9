//! What holds the blocks of the leaks, as the snapshot at the end shows it.

use memtrail_recording::Recording;
use memtrail_text::rounded::bytes;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::error::Failure;
use crate::heap::joined::Joined;

/// What holds the blocks of a function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Retainer {
    /// The root, from the coarsest name to its own: a module and a field of it.
    root: Vec<String>,
    /// The first block below the root without which they would be freed: its kind.
    kind: String,
    /// That block's number in the snapshot.
    block: u64,
    /// What it retains.
    retained: u64,
}

impl Retainer {
    pub(super) fn sentence(&self) -> String {
        let Self { root, kind, block, retained } = self;
        let size = bytes(*retained as f64);
        format!(
            "Held by {}: a block ({kind}, number {block}) that retains {size}, exactly.",
            root.join(", ")
        )
    }
}

/// What holds most blocks that functions allocated, if the snapshot has any of them.
pub(super) fn find(
    recording: Recording,
    functions: &[&str],
) -> Result<Vec<Option<Retainer>>, Failure> {
    let joined = Joined::open(recording, None)?;
    let sites = joined.ask(json!({ "ask": "heapsamples", "by": "function", "limit": 1000 }))?;
    let sites = sites["rows"].as_array().cloned().unwrap_or_default();
    functions
        .iter()
        .map(|function| {
            let of_function = |site: &&Value| site["key"] == *function || site["name"] == *function;
            let Some(block) = sites.iter().find(of_function).map(|site| &site["example"]) else {
                return Ok(None);
            };
            Ok(holder(&joined.ask(json!({ "ask": "heapblock", "block": block }))?))
        })
        .collect()
}

/// Reads it off the way from the root to a block.
fn holder(block: &Map<String, Value>) -> Option<Retainer> {
    let steps = block["path"].as_array()?;
    let name = |step: &Value| step["name"].as_str().map(str::to_owned);
    // The first step is the kind of root.
    let root = steps.iter().take_while(|step| step["block"].is_null()).skip(1);
    let first = steps.iter().find(|step| !step["block"].is_null() && step["dominates"] == true)?;
    Some(Retainer {
        root: root.filter_map(name).collect(),
        kind: name(first)?,
        block: first["block"].as_u64()?,
        retained: first["retained"].as_u64()?,
    })
}
