//! Answers one call of a tool.

use clap::ArgMatches;
use serde_json::{Map, Value, json};

use super::budget;
use super::next::{self, AnsweredCall};
use super::tools::{LEFT_OUT, Sources, TOOLS, Tool};
use super::untrusted::{self, bounded};
use crate::answer::JsonAnswer;
use crate::error::Failure;

/// Characters of an error, and of its hint.
const MAX_ERROR: usize = 800;

/// The JSON of an answer, or of an error.
pub(super) struct Called {
    pub(super) json: Value,
    pub(super) is_error: bool,
}

/// The tool with this name.
pub(super) fn tool(name: &str) -> Option<&'static Tool> {
    const { &TOOLS }.iter().find(|tool| tool.name == name)
}

/// Calls a tool. `memory` is the limit for the analysis of snapshots.
pub(super) fn call(
    sources: &Sources,
    memory: &str,
    tool: &Tool,
    arguments: &Map<String, Value>,
) -> Called {
    match try_call(sources, memory, tool, arguments) {
        Ok(json) => Called { json, is_error: false },
        Err(failure) => Called { json: error(&failure), is_error: true },
    }
}

fn error(failure: &Failure) -> Value {
    let mut json = json!({ "error": bounded(failure.message(), MAX_ERROR) });
    if let Some(hint) = failure.hint_text() {
        json["hint"] = bounded(hint, MAX_ERROR).into();
    }
    json
}

fn try_call(
    sources: &Sources,
    memory: &str,
    tool: &Tool,
    arguments: &Map<String, Value>,
) -> Result<Value, Failure> {
    let matches = tool.offer.read(arguments, memory, |named| sources.folder.recording(named))?;
    let JsonAnswer { mut value, problems } = (tool.answer)(sources, &matches)?;
    let recordings = recordings(tool, &matches);
    let calls =
        next::list((tool.next)(&AnsweredCall { recordings: &recordings, arguments }, &value));
    leave_out(&mut value);
    if !problems.is_empty() {
        value["problems"] = problems.iter().map(error).collect();
    }
    Ok(budget::fit(&value, tool.rows, |answer| json!({ "next": calls, untrusted::FIELD: answer })))
}

/// The recordings of a call, by their confined paths.
fn recordings(tool: &Tool, matches: &ArgMatches) -> Vec<String> {
    let ids = tool.offer.recordings.iter().map(|(id, _)| *id);
    let path = |id| matches.get_one::<std::path::PathBuf>(id);
    ids.filter_map(path).map(|path| path.to_string_lossy().into_owned()).collect()
}

/// Takes out what is of no use to an assistant.
fn leave_out(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(leave_out),
        Value::Object(fields) => {
            // A sentence of ours has the same name as the description of a recording.
            fields.retain(|name, value| {
                !LEFT_OUT.contains(&name.as_str()) || (name == "description" && value.is_string())
            });
            fields.values_mut().for_each(leave_out);
        }
        _ => {}
    }
}
