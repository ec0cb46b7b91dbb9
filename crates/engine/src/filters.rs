//! The answers to [`Ask::Presets`](crate::query::Query::Presets) and
//! [`Ask::Conditions`](crate::query::Query::Conditions).

use memtrail_profile::filter::{Condition, ConditionError, Filter};
use memtrail_profile::presets;
use memtrail_profile::presets::Preset;
use serde_json::{Value, json};

use crate::overview::elapsed;
use crate::query::{Conditions, Presets};
use crate::recording::Recording;
use crate::response_body::ResponseBody;

pub(crate) fn presets(recording: &Recording, ask: &Presets) -> ResponseBody {
    let end = recording.profile().end;
    let within = |time| elapsed(time).min(end);
    let between = ask.from.zip(ask.to).map(|(from, to)| (within(from), within(to)));
    let tell = |preset: &Preset| {
        json!({
            "id": preset.id,
            "name": preset.name,
            "why": preset.why,
            "conditions": preset.conditions.iter().map(Condition::to_string).collect::<Vec<_>>(),
        })
    };
    let presets = presets::presets(recording.profile(), between);
    ResponseBody::new(json!({ "presets": presets.iter().map(tell).collect::<Vec<_>>() }))
}

/// Each condition as it is written and said, or what is wrong with it.
pub(crate) fn conditions(ask: &Conditions) -> ResponseBody {
    let tell = |text: &String| -> Value {
        match text.parse::<Condition>() {
            Ok(condition) => json!({
                "canonical": condition.to_string(),
                "sentence": condition.sentence(),
                "condition": condition,
            }),
            Err(ConditionError { at, message, hint }) => {
                json!({ "error": { "at": at, "message": message, "hint": hint } })
            }
        }
    };
    let conditions: Vec<Value> = ask.texts.iter().take(Filter::MAX_CONDITIONS).map(tell).collect();
    ResponseBody::new(json!({ "conditions": conditions }))
}
