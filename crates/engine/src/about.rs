//! The answer to [`Ask::About`](crate::query::Query::About).

use memtrail_profile::Profile;
use memtrail_profile::threads::Threads;
use serde_json::{Value, json};

use crate::api_error::ApiError;
use crate::engine::Setting;
use crate::names::shown;
use crate::recording::Recording;
use crate::response_body::ResponseBody;

/// Lines about damage at most.
const MOST_DAMAGE: usize = 20;

pub(crate) fn answer(setting: Setting, recordings: &[Value]) -> ResponseBody {
    ResponseBody::new(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "live": setting.live,
        "offline": setting.offline,
        "recordings": recordings,
    }))
}

pub(crate) fn recording(recording: &Recording) -> Result<Value, ApiError> {
    let profile = recording.profile();
    let (description, info, whole) = (&recording.description, &profile.info, recording.whole()?);
    let mut about = json!({
        "name": description.name,
        "program": recording.program(),
        "args": description.args,
        "pid": info.pid,
        "host": info.host,
        "runtime": description.runtime,
        "ocaml_params": info.runtime_params,
        "context": info.context.as_ref().filter(|context| !context.is_empty()),
        "start_unix": info.start.0 as f64 / 1e6,
        "duration": profile.end.seconds(),
        "rate": profile.estimator.rate().0,
        "adapted": profile.adapted,
        "bytes_per_sample": profile.estimator.bytes_per_sample(),
        "word_bytes": if info.word_bits == 32 { 4 } else { 8 },
        "seed": description.seed,
        "domains": profile.blocks.domains().iter().map(|domain| domain.0).collect::<Vec<_>>(),
        "threads": threads(profile),
        "memtrail": description.memtrail,
    });
    let more = json!({
        "state": description.state,
        "outcome": description.outcome,
        "notes": description.notes,
        "caveats": recording.caveats(),
        "damage": damage(profile),
        "thinned": description.thinned,
        "snapshots": recording.snapshots.len(),
        "trace": !description.no_trace,
        "can_snapshot": recording.why_no_snapshot().is_none(),
        "trace_bytes": recording.bytes,
        "events": whole.events,
        "blocks_recorded": profile.blocks.len(),
        "totals": {
            "allocated": whole.sums.allocated,
            "blocks": whole.sums.blocks.value,
            "live_end": whole.sums.live_end,
            "peak": whole.sums.peak,
        },
    });
    if let (Value::Object(about), Value::Object(more)) = (&mut about, more) {
        about.extend(more);
    }
    Ok(about)
}

/// What is wrong with the trace, a line each.
fn damage(profile: &Profile) -> Vec<String> {
    let anomalies = profile.damage.list().iter().filter(|anomaly| !anomaly.cause.is_harmless());
    let mut lines: Vec<String> =
        anomalies.take(MOST_DAMAGE).map(|anomaly| shown(&anomaly.to_string())).collect();
    let more = profile.damage.serious().saturating_sub(lines.len() as u64);
    if more > 0 {
        lines.push(format!("{more} more"));
    }
    let inconsistent = profile.inconsistent.total();
    if inconsistent > 0 {
        lines.push(format!("{inconsistent} events that contradict others"));
    }
    lines
}

/// The names of all threads. Numbers that no thread has are passed over.
fn threads(profile: &Profile) -> Vec<&str> {
    let names = profile.threads.as_ref().map_or(&[][..], Threads::names);
    names.iter().map(String::as_str).filter(|name| !name.is_empty()).collect()
}
