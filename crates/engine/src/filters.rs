//! The answers to [`Presets`] and
//! [`Conditions`].

use memtrail_profile::filter::{Condition, ConditionError, ConditionForm, Filter};
use memtrail_profile::presets;
use memtrail_profile::presets::Preset;
use serde::Serialize;

use crate::overview::elapsed;
use crate::query::{Conditions, Presets};
use crate::recording::Recording;
use crate::response_body::ResponseBody;

/// Filters that answer common questions.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct PresetsResponse {
    presets: Vec<PresetFilter>,
}

/// A filter with a name.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct PresetFilter {
    /// `leak`, `peak`, `temporary` or `growth`.
    id: &'static str,
    name: &'static str,
    /// Why these blocks.
    why: String,
    /// The filter, in its text form.
    conditions: Vec<String>,
}

/// Each condition as it is written and read, or what is wrong with it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct ConditionsResponse {
    conditions: Vec<ConditionCheck>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) enum ConditionCheck {
    Valid {
        canonical: String,
        description: String,
        /// The condition as the fields of a form.
        condition: ConditionForm,
    },
    Invalid {
        error: ConditionProblem,
    },
}

/// What is wrong with a condition.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct ConditionProblem {
    /// Byte of its text.
    at: usize,
    message: String,
    /// What to do about it.
    hint: Option<String>,
}

pub(crate) fn presets(recording: &Recording, query: &Presets) -> ResponseBody {
    let end = recording.profile().end;
    let within = |time| elapsed(time).min(end);
    let between = query.from.zip(query.to).map(|(from, to)| (within(from), within(to)));
    let filter = |preset: Preset| PresetFilter {
        id: preset.id,
        name: preset.name,
        why: preset.why,
        conditions: preset.conditions.iter().map(Condition::to_string).collect(),
    };
    let presets = presets::presets(recording.profile(), between);
    ResponseBody::new(PresetsResponse { presets: presets.into_iter().map(filter).collect() })
}

/// Each condition as it is written and said, or what is wrong with it.
pub(crate) fn conditions(query: &Conditions) -> ResponseBody {
    let check = |text: &String| match text.parse::<Condition>() {
        Ok(condition) => ConditionCheck::Valid {
            canonical: condition.to_string(),
            description: condition.description(),
            condition: condition.form(),
        },
        Err(ConditionError { at, message, hint }) => {
            ConditionCheck::Invalid { error: ConditionProblem { at, message, hint } }
        }
    };
    let conditions = query.texts.iter().take(Filter::MAX_CONDITIONS).map(check).collect();
    ResponseBody::new(ConditionsResponse { conditions })
}
