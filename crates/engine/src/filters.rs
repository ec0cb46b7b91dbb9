//! The answers to [`Ask::Presets`](crate::ask::Ask::Presets) and
//! [`Ask::Chips`](crate::ask::Ask::Chips).

use memtrail_profile::filter::{Chip, ChipError, Filter};
use memtrail_profile::presets;
use memtrail_profile::presets::Preset;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::ask::{Chips, Presets};
use crate::overview::elapsed;
use crate::recording::Recording;

pub(crate) fn presets(recording: &Recording, ask: &Presets) -> Answer {
    let end = recording.profile().end;
    let within = |time| elapsed(time).min(end);
    let between = ask.from.zip(ask.to).map(|(from, to)| (within(from), within(to)));
    let tell = |preset: &Preset| {
        json!({
            "id": preset.id,
            "name": preset.name,
            "why": preset.why,
            "chips": preset.chips.iter().map(Chip::to_string).collect::<Vec<_>>(),
        })
    };
    let presets = presets::presets(recording.profile(), between);
    Answer::new(json!({ "presets": presets.iter().map(tell).collect::<Vec<_>>() }))
}

/// Each chip as it is written and said, or what is wrong with it.
pub(crate) fn chips(ask: &Chips) -> Answer {
    let tell = |text: &String| -> Value {
        match text.parse::<Chip>() {
            Ok(chip) => json!({
                "canonical": chip.to_string(),
                "sentence": chip.sentence(),
                "chip": chip,
            }),
            Err(ChipError { at, message, hint }) => {
                json!({ "error": { "at": at, "message": message, "hint": hint } })
            }
        }
    };
    let chips: Vec<Value> = ask.texts.iter().take(Filter::MOST).map(tell).collect();
    Answer::new(json!({ "chips": chips }))
}
