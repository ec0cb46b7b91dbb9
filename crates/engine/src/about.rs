//! The answer to [`Ask::About`](crate::ask::Ask::About).

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::engine::Setting;
use crate::recording::Recording;

pub(crate) fn answer(setting: Setting, recordings: &[Value]) -> Answer {
    Answer::new(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "live": setting.live,
        "offline": setting.offline,
        "recordings": recordings,
    }))
}

pub(crate) fn recording(recording: &Recording) -> Value {
    let Recording { description, profile, bytes, events } = recording;
    let info = &profile.info;
    json!({
        "name": description.name,
        "program": description.program.as_ref().unwrap_or(&info.executable),
        "args": description.args,
        "pid": info.pid,
        "host": info.host,
        "runtime": description.runtime,
        "ocaml_params": info.runtime_params,
        "context": info.context.as_ref().filter(|context| !context.is_empty()),
        "start_unix": info.start.0 as f64 / 1e6,
        "duration": profile.end.seconds(),
        "rate": profile.estimator.rate().0,
        "bytes_per_sample": profile.estimator.bytes_per_sample(),
        "word_bytes": if info.word_bits == 32 { 4 } else { 8 },
        "seed": description.seed,
        "memtrail": description.memtrail,
        "state": description.state,
        "outcome": description.outcome,
        "notes": description.notes,
        "thinned": description.thinned,
        "trace_bytes": bytes,
        "events": events,
        "blocks_recorded": profile.blocks.len(),
    })
}
