//! Turns the arguments of a tool into the words of its command, and describes them to assistants.
//!
//! Defaults, limits and conflicts are the command's own: its parser reads the words.

use std::any::TypeId;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value, json};

use crate::error::{Failure, Kind};
use crate::limit::Limit;

/// A command of memtrail that a tool calls, and what of it an assistant may use.
#[derive(Clone, Copy)]
pub(super) struct Offer {
    /// The parser of the command.
    pub(super) command: fn() -> Command,
    /// Arguments that are recordings: names of the command's, and of the tool's.
    pub(super) recordings: &'static [(&'static str, &'static str)],
    /// Other arguments, by the command's names.
    pub(super) others: &'static [&'static str],
}

/// An option of the command that is set for all calls.
const MEMORY: &str = "memory";
/// Rows that a command is asked for, at most: more do not fit into an answer, and all of a large heap are gigabytes.
const MAX_ROWS: u64 = 100;

/// An argument of a tool.
struct Argument {
    /// The command's, which has another name.
    arg: Arg,
    name: String,
    is_recording: bool,
}

impl Offer {
    fn arguments(&self) -> Vec<Argument> {
        let command = (self.command)();
        let known = |id: &str| command.get_arguments().find(|arg| arg.get_id() == id).cloned();
        let recordings = self.recordings.iter().filter_map(|(id, name)| {
            Some(Argument { arg: known(id)?, name: (*name).to_owned(), is_recording: true })
        });
        let others = self.others.iter().filter_map(|id| {
            let arg = known(id)?;
            let name = arg.get_long().unwrap_or(id).replace('-', "_");
            Some(Argument { arg, name, is_recording: false })
        });
        recordings.chain(others).collect()
    }

    /// The schema of the arguments, as the protocol has it.
    pub(super) fn schema(&self) -> Map<String, Value> {
        let arguments = self.arguments();
        let properties: Map<String, Value> =
            arguments.iter().map(|argument| (argument.name.clone(), argument.schema())).collect();
        let required: Vec<&str> = arguments
            .iter()
            .filter(|argument| argument.arg.is_required_set())
            .map(|argument| argument.name.as_str())
            .collect();
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        schema.as_object().cloned().unwrap_or_default()
    }

    /// Reads arguments. `confined` gives the path of a recording that is named.
    pub(super) fn read(
        &self,
        arguments: &Map<String, Value>,
        memory: &str,
        confined: impl Fn(&str) -> Result<PathBuf, Failure>,
    ) -> Result<ArgMatches, Failure> {
        let known = self.arguments();
        let names = known.iter().map(|argument| argument.name.as_str()).collect::<Vec<_>>();
        let list = format!("arguments are {}", names.join(", "));
        let wrong = |message: String| Failure::new(Kind::Usage, message).hint(&list);
        if let Some(other) = arguments.keys().find(|name| !names.contains(&name.as_str())) {
            return Err(wrong(format!("there is no argument {other:?}")));
        }
        let command = (self.command)().no_binary_name(true).args_override_self(true);
        let mut words: Vec<OsString> = Vec::new();
        // Behind `--` a name that begins with a dash is one.
        let mut positional: Vec<OsString> = Vec::new();
        if command.get_arguments().any(|arg| arg.get_id() == MEMORY) {
            words.push(format!("--{MEMORY}={memory}").into());
        }
        for Argument { arg, name, is_recording } in &known {
            let value = arguments.get(name).filter(|value| !value.is_null());
            let Some(value) = value else {
                if arg.is_required_set() {
                    return Err(wrong(format!("the argument {name:?} is missing")));
                }
                continue;
            };
            let texts = texts(arg, value)
                .ok_or_else(|| wrong(format!("the argument {name:?} cannot be {value}")))?;
            for text in texts {
                let text = if is_limit(arg) { limited(text) } else { text };
                let word = if *is_recording { confined(&text)?.into() } else { text.into() };
                match arg.get_long() {
                    Some(long) if matches!(arg.get_action(), ArgAction::SetTrue) => {
                        words.push(format!("--{long}").into());
                    }
                    Some(long) => {
                        let mut option = OsString::from(format!("--{long}="));
                        option.push(word);
                        words.push(option);
                    }
                    None => positional.push(word),
                }
            }
        }
        words.push("--".into());
        words.extend(positional);
        command.try_get_matches_from(words).map_err(|error| wrong(message(&error)))
    }
}

impl Argument {
    fn schema(&self) -> Value {
        let Self { arg, is_recording, .. } = self;
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let help = if *is_recording { "As `recordings` names it".to_owned() } else { help };
        let help = help.trim_end_matches("; 0 for all").to_owned();
        let mut schema = match arg.get_action() {
            ArgAction::SetTrue => json!({ "type": "boolean" }),
            ArgAction::Append => json!({ "type": "array", "items": { "type": "string" } }),
            _ if is_limit(arg) => json!({ "type": "integer", "minimum": 1, "maximum": MAX_ROWS }),
            _ if is_number(arg) => json!({ "type": "integer", "minimum": 0 }),
            _ => json!({ "type": "string" }),
        };
        let values: Vec<String> =
            arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
        if schema["type"] == "string" && !values.is_empty() {
            schema["enum"] = values.into();
        }
        if let [default] = arg.get_default_values()
            && !arg.is_hide_default_value_set()
            && let Some(default) = default.to_str()
        {
            let number = default.parse::<u64>().ok().filter(|_| is_number(arg));
            let flag = schema["type"] == "boolean";
            if !flag {
                schema["default"] = number.map_or_else(|| default.into(), Into::into);
            }
        }
        schema["description"] = help.into();
        schema
    }
}

fn is_number(arg: &Arg) -> bool {
    let numbers = [TypeId::of::<u32>(), TypeId::of::<usize>(), TypeId::of::<Limit>()];
    numbers.iter().any(|number| arg.get_value_parser().type_id() == *number)
}

fn is_limit(arg: &Arg) -> bool {
    arg.get_value_parser().type_id() == TypeId::of::<Limit>()
}

/// A number of rows that is not too large. 0 stands for all.
fn limited(text: String) -> String {
    match text.parse::<u64>() {
        Ok(rows) if rows == 0 || rows > MAX_ROWS => MAX_ROWS.to_string(),
        _ => text,
    }
}

/// The words of an argument; `None` if a value of its type cannot be one.
fn texts(arg: &Arg, value: &Value) -> Option<Vec<String>> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    match (arg.get_action(), value) {
        (ArgAction::SetTrue, Value::Bool(is_set)) => {
            Some(vec![String::new(); usize::from(*is_set)])
        }
        (ArgAction::SetTrue, _) => None,
        (ArgAction::Append, Value::Array(values)) => values.iter().map(text).collect(),
        (_, value) => Some(vec![text(value)?]),
    }
}

/// The message of a parser in one line, without its advice on the command line.
fn message(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let lines: Vec<&str> = first.lines().map(str::trim).collect();
    lines.join(" ").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::*;

    const HISTOGRAM: Offer = Offer {
        command: || crate::heap::histogram::Args::augment_args(Command::new("histogram")),
        recordings: &[("path", "recording")],
        others: &["snapshot", "by", "find", "limit"],
    };

    fn read(arguments: &Value) -> Result<ArgMatches, Failure> {
        let arguments = arguments.as_object().unwrap();
        HISTOGRAM.read(arguments, "1GiB", |named| Ok(PathBuf::from(format!("./{named}"))))
    }

    #[test]
    fn the_schema_is_that_of_the_command() {
        let schema = Value::Object(HISTOGRAM.schema());
        assert_eq!(schema["required"], json!(["recording"]));
        assert_eq!(schema["properties"]["by"]["enum"], json!(["type", "kind", "owner"]));
        assert_eq!(schema["properties"]["by"]["default"], "type");
        let limit = &schema["properties"]["limit"];
        assert_eq!((&limit["type"], &limit["default"]), (&json!("integer"), &json!(30)));
        assert_eq!(schema["properties"]["json"], Value::Null);
    }

    #[test]
    fn no_call_asks_for_all_rows() {
        for (asked, expected) in [(0, 100), (7, 7), (100_000, 100)] {
            let matches = read(&json!({ "recording": "a", "limit": asked })).unwrap();
            assert_eq!(matches.get_one("limit"), Some(&Limit(expected)));
        }
    }

    #[test]
    fn values_that_look_like_options_are_values() {
        let matches = read(&json!({ "recording": "--memory=1", "find": "--json" })).unwrap();
        assert_eq!(matches.get_one("path"), Some(&PathBuf::from("./--memory=1")));
        assert_eq!(matches.get_one("find"), Some(&"--json".to_owned()));
        assert_eq!(matches.get_one("json"), Some(&false));
    }

    #[test]
    fn wrong_arguments_are_named() {
        for (arguments, expected) in [
            (json!({}), "the argument \"recording\" is missing"),
            (json!({ "recording": 1, "json": true }), "there is no argument \"json\""),
            (json!({ "recording": ["a"] }), "the argument \"recording\" cannot be [\"a\"]"),
            (
                json!({ "recording": "a", "limit": "x" }),
                "invalid value 'x' for '--limit <N>': invalid number of rows \"x\"; expected for example 20, or 0 for all",
            ),
            (
                json!({ "recording": "a", "by": "x" }),
                "invalid value 'x' for '--by <BY>' [possible values: type, kind, owner]",
            ),
        ] {
            let failure = read(&arguments).unwrap_err();
            assert_eq!(failure.message(), expected);
            assert_eq!(
                failure.hint_text(),
                Some("arguments are recording, snapshot, by, find, limit")
            );
        }
    }
}
