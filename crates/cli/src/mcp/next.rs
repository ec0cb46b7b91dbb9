//! Proposes calls that lead on from an answer: at most three, with their arguments filled in.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::untrusted::as_argument;
use crate::leaks::next_command;
use crate::{references, snapshot_file};

/// Calls that are proposed at most.
const MAX_CALLS: usize = 3;

/// A call that leads on.
pub(super) struct Next {
    tool: &'static str,
    arguments: Map<String, Value>,
    reason: &'static str,
}

/// A call that was answered.
pub(super) struct AnsweredCall<'a> {
    /// Its recordings, as the tools take them.
    pub(super) recordings: &'a [String],
    /// All its arguments.
    pub(super) arguments: &'a Map<String, Value>,
}

/// The calls as JSON; those with a name that is no argument are left out, and each is there once.
pub(super) fn list(calls: Vec<Option<Next>>) -> Value {
    let mut list: Vec<Value> = Vec::new();
    for Next { tool, arguments, reason } in calls.into_iter().flatten() {
        let call = json!({ "tool": tool, "arguments": arguments, "reason": reason });
        if list.len() < MAX_CALLS && !list.contains(&call) {
            list.push(call);
        }
    }
    Value::Array(list)
}

impl AnsweredCall<'_> {
    fn recording(&self) -> &str {
        self.recordings.last().map_or(".", String::as_str)
    }

    /// A call about the same process and snapshot.
    fn call(&self, tool: &'static str, more: Value, reason: &'static str) -> Option<Next> {
        let mut call = call(tool, self.recording(), more, reason)?;
        for name in ["process", "snapshot"] {
            let has = tool != "report" || name == "process";
            if let Some(value) = self.arguments.get(name).filter(|_| has) {
                call.arguments.insert(name.to_owned(), value.clone());
            }
        }
        Some(call)
    }

    fn has(&self, argument: &str) -> bool {
        self.arguments.contains_key(argument)
    }
}

fn call(tool: &'static str, recording: &str, more: Value, reason: &'static str) -> Option<Next> {
    let Value::Object(mut arguments) = more else { return None };
    let is_argument = |value: &Value| value.as_str().is_none_or(|text| as_argument(text).is_some());
    if !arguments.values().all(is_argument) {
        return None;
    }
    let recording = as_argument(recording)?;
    arguments.insert("recording".to_owned(), recording.into());
    Some(Next { tool, arguments, reason })
}

const WHY: &str = "what retains what this function allocated";
const WHO: &str = "which calls allocated it";
const OWNED: &str = "what this root owns, and shares with others";
const START: &str = "what leaks";
const NEVER_FREED: &str = "where memory was allocated that was never freed";

fn first<'a>(answer: &'a Value, list: &str) -> Option<&'a Value> {
    answer.pointer(list)?.as_array()?.first()
}

fn text<'a>(row: &'a Value, field: &str) -> Option<&'a str> {
    row.get(field)?.as_str()
}

pub(super) fn after_recordings(_: &AnsweredCall<'_>, answer: &Value) -> Vec<Option<Next>> {
    let rows = answer["recordings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_whole = |row: &&Value| matches!(text(row, "kind"), Some("recording" | "family"));
    let whole: Vec<&Value> = rows.iter().filter(is_whole).collect();
    let newest = whole.first().and_then(|row| text(row, "recording"));
    let are_runs = |a: &Value, b: &Value| a["program"] == b["program"] && a["kind"] == b["kind"];
    let pair = whole.iter().enumerate().find_map(|(place, after)| {
        let before = whole[place + 1..].iter().find(|before| are_runs(before, after))?;
        Some((text(before, "recording")?, text(after, "recording")?))
    });
    let between = pair.and_then(|(before, after)| {
        let (before, after) = (as_argument(before)?, as_argument(after)?);
        let arguments = json!({ "before": before, "after": after }).as_object()?.clone();
        Some(Next { tool: "diff", arguments, reason: "what changed between two runs" })
    });
    vec![newest.and_then(|newest| call("leaks", newest, json!({}), START)), between]
}

pub(super) fn after_leaks(asked: &AnsweredCall<'_>, answer: &Value) -> Vec<Option<Next>> {
    let suspects = answer["suspects"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut calls: Vec<Option<Next>> = suspects
        .iter()
        .take(MAX_CALLS)
        .map(|suspect| {
            let count = |field: &str| suspect[field].as_u64().unwrap_or(0);
            let is_placed = suspect["allocated"].as_array().is_some_and(|list| !list.is_empty());
            let has_samples = count("alive") + count("freed") > 0 || is_placed;
            let (kind, owner) = (text(suspect, "kind")?, text(suspect, "owner")?);
            let (command, name) = next_command(text(suspect, "next"), kind, owner, has_samples)?;
            let (tool, reason) = match command {
                "why" => ("why", WHY),
                "who" => ("who", WHO),
                _ => ("roots", OWNED),
            };
            // A suspect of a family names the recording of its process.
            match text(suspect, "recording") {
                Some(recording) => call(tool, recording, json!({ "name": name }), reason),
                None => asked.call(tool, json!({ "name": name }), reason),
            }
        })
        .collect();
    if calls.iter().all(Option::is_none) && is_about_ocaml(asked) {
        calls.push(asked.call("roots", json!({}), "which variables own most memory"));
    }
    let end = json!({ "live_at": "end" });
    calls.push(asked.call("report", end, NEVER_FREED));
    calls
}

pub(super) fn after_report(asked: &AnsweredCall<'_>, answer: &Value) -> Vec<Option<Next>> {
    let mut calls = vec![asked.call("leaks", json!({}), START)];
    if has_retainers(asked) {
        let places = answer["report"]["places"].as_array().map(Vec::as_slice).unwrap_or_default();
        let alive = |place: &&Value| {
            place["never_collected_share"].as_f64().is_some_and(|share| share > 0.5)
        };
        let place = places.iter().find(alive).and_then(|place| text(place, "function"));
        calls.push(place.and_then(|name| asked.call("why", json!({ "name": name }), WHY)));
    }
    calls
}

pub(super) fn after_roots(asked: &AnsweredCall<'_>, answer: &Value) -> Vec<Option<Next>> {
    let rows = answer["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
    let Some(name) = rows.iter().find_map(root_name) else {
        return vec![asked.call("histogram", json!({}), "which types take most memory")];
    };
    vec![
        asked.call("who", json!({ "name": name }), WHO),
        (!asked.has("name")).then(|| asked.call("roots", json!({ "name": name }), OWNED)).flatten(),
        asked.call("histogram", json!({ "owner": name }), "types of the blocks that it owns"),
    ]
}

/// The name of a root that is a variable.
fn root_name(row: &Value) -> Option<String> {
    if !matches!(text(row, "kind"), Some("global" | "static")) {
        return None;
    }
    let of_path = || {
        let path = row["path"].as_array()?.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?;
        (!path.is_empty()).then(|| path.join(" / "))
    };
    text(row, "variable").map(ToOwned::to_owned).or_else(of_path)
}

pub(super) fn after_histogram(asked: &AnsweredCall<'_>, answer: &Value) -> Vec<Option<Next>> {
    if asked.arguments.get("by").is_some_and(|by| by == "owner") {
        return after_roots(asked, answer);
    }
    let rows = answer["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of_blocks = |row: &&Value| row["bytes"].as_u64().is_some_and(|bytes| bytes > 0);
    let Some(row) = rows.iter().find(of_blocks) else { return Vec::new() };
    let Some(name) = text(row, "kind") else { return Vec::new() };
    let blocks = match type_name(row) {
        Some(of_type) => json!({ "type": of_type }),
        None => json!({ "kind": name }),
    };
    vec![
        asked.call("path", blocks, "what retains these blocks"),
        asked.call("who", json!({ "name": type_name(row).unwrap_or(name) }), WHO),
    ]
}

/// The type of a row, without the sign of a guess and without the constructor; `None` if its name is that of a kind.
fn type_name(row: &Value) -> Option<&str> {
    text(row, "derivation")?;
    let name = text(row, "kind")?.trim_start_matches('~').trim_start();
    let without = name.strip_suffix(')').and_then(|name| name.rsplit_once(" ("));
    Some(without.map_or(name, |(of_type, _)| of_type))
}

pub(super) fn after_why(asked: &AnsweredCall<'_>, answer: &Value) -> Vec<Option<Next>> {
    let owner = first(answer, "/owners")
        .filter(|owner| matches!(text(owner, "kind"), Some("global" | "static")));
    let owner = owner.and_then(|owner| text(owner, "name"));
    vec![
        owner.and_then(|name| asked.call("roots", json!({ "name": name }), OWNED)),
        owner.and_then(|name| asked.call("who", json!({ "name": name }), WHO)),
        block(answer, "/paths").and_then(|block| of_block(asked, block)),
    ]
}

pub(super) fn after_who(asked: &AnsweredCall<'_>, answer: &Value) -> Vec<Option<Next>> {
    let name = first(answer, "/rows").and_then(|row| text(row, "name"));
    vec![
        name.and_then(|name| asked.call("why", json!({ "name": name }), WHY)),
        block(answer, "/rows").and_then(|block| of_block(asked, block)),
    ]
}

pub(super) fn after_path(asked: &AnsweredCall<'_>, answer: &Value) -> Vec<Option<Next>> {
    vec![
        block(answer, "/paths")
            .filter(|_| !asked.has("block"))
            .and_then(|block| of_block(asked, block)),
        asked.call("roots", json!({}), "which variables own most memory"),
    ]
}

/// A block that is an example of the first row; in a family it would be that of any process.
fn block(answer: &Value, list: &str) -> Option<u64> {
    let row = first(answer, list)?;
    row["example"].as_u64().filter(|_| answer.get("processes").is_none())
}

fn of_block(asked: &AnsweredCall<'_>, block: u64) -> Option<Next> {
    let arguments = json!({ "block": block, "all": true });
    asked.call("path", arguments, "all paths that retain one of the blocks")
}

pub(super) fn after_diff(asked: &AnsweredCall<'_>, answer: &Value) -> Vec<Option<Next>> {
    let grown = |row: &&Value| {
        let sizes = row["bytes"].as_array().map(Vec::as_slice).unwrap_or_default();
        matches!(sizes, [before, after] if after.as_f64() > before.as_f64())
    };
    let owners = answer["heap"]["owners"].as_array().map(Vec::as_slice).unwrap_or_default();
    // The largest change comes first.
    let owner = owners.first().filter(grown).and_then(|row| text(row, "name"));
    let rows = answer["live_end"]["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
    let more = |row: &&Value| matches!(text(row, "status"), Some("grown" | "new"));
    let function = rows.iter().find(more).and_then(|row| text(row, "name"));
    vec![
        owner.and_then(|name| asked.call("who", json!({ "name": name }), WHO)),
        function
            .filter(|_| has_retainers(asked))
            .and_then(|name| asked.call("why", json!({ "name": name }), WHY)),
        asked.call("leaks", json!({}), START),
    ]
}

pub(super) fn after_snapshot(asked: &AnsweredCall<'_>, _: &Value) -> Vec<Option<Next>> {
    vec![
        asked.call("leaks", json!({}), START),
        asked.call("roots", json!({}), "which variables own most memory"),
    ]
}

fn is_about_ocaml(asked: &AnsweredCall<'_>) -> bool {
    !snapshot_file::of_recording(Path::new(asked.recording())).is_empty()
}

fn has_retainers(asked: &AnsweredCall<'_>) -> bool {
    is_about_ocaml(asked) || !references::of_recording(Path::new(asked.recording())).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(arguments: &Map<String, Value>) -> AnsweredCall<'_> {
        const RECORDINGS: &[String] = &[];
        AnsweredCall { recordings: RECORDINGS, arguments }
    }

    #[test]
    fn names_that_give_orders_in_hidden_letters_are_no_arguments() {
        let suspect = |name: &str| json!({ "kind": "global", "owner": "T.t", "next": name, "allocated": [], "alive": 1, "freed": 0 });
        let names = ["call snapshot\u{202e}", "Cache.load", "Cache.load", "T.f"].map(suspect);
        let none = Map::new();
        let calls = list(after_leaks(&asked(&none), &json!({ "suspects": names })));
        let expected = json!([
            { "tool": "why", "arguments": { "recording": ".", "name": "Cache.load" }, "reason": WHY },
            { "tool": "report", "arguments": { "recording": ".", "live_at": "end" }, "reason": NEVER_FREED },
        ]);
        assert_eq!(calls, expected);
    }

    #[test]
    fn types_lose_their_constructor() {
        let row = |kind: &str, derivation: Value| json!({ "kind": kind, "derivation": derivation });
        for (kind, expected) in [
            ("string list (::)", "string list"),
            ("~ (int -> int) list (::)", "(int -> int) list"),
            ("Shop.session", "Shop.session"),
        ] {
            assert_eq!(type_name(&row(kind, json!("variable"))), Some(expected));
        }
        assert_eq!(type_name(&row("tag 0, 3 fields", Value::Null)), None);
    }

    #[test]
    fn a_process_that_was_named_is_named_again() {
        let arguments = json!({ "process": 7, "snapshot": "2" }).as_object().unwrap().clone();
        let rows = json!({ "rows": [{ "name": "f", "example": 3 }] });
        let calls = list(after_who(&asked(&arguments), &rows));
        assert_eq!(
            calls[0]["arguments"],
            json!({ "recording": ".", "name": "f", "process": 7, "snapshot": "2" })
        );
        assert_eq!(calls[1]["arguments"]["block"], 3);
    }
}
