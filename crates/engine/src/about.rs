//! The answer to `About`.

use memtrail_profile::estimate::{Adapted, Estimate};
use memtrail_profile::threads::Threads;
use memtrail_profile::{Caveats, Profile};
use serde::Serialize;

use crate::api_error::ApiError;
use crate::describe::{State, Subsampled};
use crate::names::shown;
use crate::recording::Recording;
use crate::response_body::ResponseBody;
use crate::setting::Setting;
use crate::source::SourceFiles;
use crate::sums::Peak;

/// Lines about damage at most.
const MAX_DAMAGE: usize = 20;

/// What recordings there are, and what is recorded of each run.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct AboutResponse {
    /// Of memtrail.
    version: &'static str,
    /// Whether recordings may still grow.
    live: bool,
    /// Whether everything is in the page.
    offline: bool,
    /// Whether source files can be shown.
    sources: bool,
    /// The address that opens a source file in an editor, with `{path}`, `{line}` and `{column}` in it.
    editor: Option<String>,
    recordings: Vec<RecordingInfo>,
}

/// What is recorded of a run. Bytes and seconds.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[expect(clippy::struct_excessive_bools, reason = "what pages show depends on each by itself")]
pub(crate) struct RecordingInfo {
    name: String,
    /// Path of the executable.
    program: String,
    /// Arguments, the program's own name first.
    args: Vec<String>,
    pid: u64,
    host: String,
    /// The language runtime, as `OCaml 4.14`.
    runtime: Option<String>,
    /// Whether the program frees its memory itself.
    is_native: bool,
    /// Whether its calls of `malloc` are in the trace beside what the collector frees.
    has_malloc: bool,
    ocaml_params: String,
    context: Option<String>,
    /// Seconds since 1970.
    start_unix: f64,
    duration: f64,
    /// Samples per word.
    rate: f64,
    /// How far the rate was lowered on the way, if it was.
    adapted: Option<Adapted>,
    bytes_per_sample: f64,
    word_bytes: u8,
    seed: Option<u64>,
    domains: Vec<u16>,
    /// Names of all threads, if there are several.
    threads: Vec<String>,
    /// Version of memtrail that recorded.
    memtrail: Option<String>,
    state: State,
    /// How the recording ended, in words; none while it grows.
    outcome: Option<String>,
    /// What readers should know, in words.
    notes: Vec<String>,
    /// What must be known of the figures.
    caveats: Caveats,
    /// What is wrong with the trace, a line each.
    damage: Vec<String>,
    /// Set when the trace holds only a part of the recorded blocks.
    subsampled: Option<Subsampled>,
    /// Of all processes of a family together: the numbers of the recordings of each alone.
    members: Vec<u32>,
    /// Number of heap snapshots.
    snapshots: usize,
    /// Whether there is an allocation trace; a snapshot may be there without one.
    trace: bool,
    /// Whether allocations could not be recorded at all; a note says why.
    impossible: bool,
    /// Whether the program runs and can be asked for a snapshot.
    can_snapshot: bool,
    trace_bytes: u64,
    events: u64,
    blocks_recorded: usize,
    totals: Totals,
}

/// Sums over everything recorded.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct Totals {
    allocated: Estimate,
    blocks: f64,
    /// Bytes never collected.
    live_end: f64,
    peak: Peak,
}

pub(crate) fn answer(
    setting: Setting,
    files: Option<&dyn SourceFiles>,
    recordings: Vec<RecordingInfo>,
) -> ResponseBody {
    ResponseBody::new(AboutResponse {
        version: env!("CARGO_PKG_VERSION"),
        live: setting.live,
        offline: setting.offline,
        sources: files.is_some(),
        editor: files.and_then(|files| files.editor()).map(ToOwned::to_owned),
        recordings,
    })
}

pub(crate) fn recording(recording: &Recording) -> Result<RecordingInfo, ApiError> {
    let profile = recording.profile();
    let (description, info, whole) = (&recording.description, &profile.info, recording.whole()?);
    Ok(RecordingInfo {
        name: description.name.clone(),
        program: recording.program().to_owned(),
        args: description.args.clone(),
        pid: info.pid,
        host: info.host.clone(),
        runtime: description.runtime.clone(),
        is_native: description.is_native,
        has_malloc: description.has_malloc,
        ocaml_params: info.runtime_params.clone(),
        context: info.context.clone().filter(|context| !context.is_empty()),
        start_unix: info.start.0 as f64 / 1e6,
        duration: profile.end.seconds(),
        rate: profile.estimator.rate().0,
        adapted: profile.adapted,
        bytes_per_sample: profile.estimator.bytes_per_sample(),
        word_bytes: if info.word_bits == 32 { 4 } else { 8 },
        seed: description.seed,
        domains: profile.blocks.domains().iter().map(|domain| domain.0).collect(),
        threads: threads(profile),
        memtrail: description.memtrail.clone(),
        state: description.state,
        outcome: description.outcome.clone(),
        notes: description.notes.clone(),
        caveats: recording.caveats(),
        damage: damage(profile),
        subsampled: description.subsampled,
        members: description.members.clone(),
        snapshots: recording.snapshots.len(),
        trace: !description.no_trace,
        impossible: description.impossible,
        can_snapshot: recording.why_no_snapshot().is_none(),
        trace_bytes: recording.bytes,
        events: whole.events,
        blocks_recorded: profile.blocks.len(),
        totals: Totals {
            allocated: whole.sums.allocated,
            blocks: whole.sums.blocks.value,
            live_end: whole.sums.live_end,
            peak: whole.sums.peak,
        },
    })
}

/// What is wrong with the trace, a line each.
fn damage(profile: &Profile) -> Vec<String> {
    let anomalies = profile.damage.list().iter().filter(|anomaly| !anomaly.cause.is_harmless());
    let mut lines: Vec<String> =
        anomalies.take(MAX_DAMAGE).map(|anomaly| shown(&anomaly.to_string())).collect();
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
fn threads(profile: &Profile) -> Vec<String> {
    let names = profile.threads.as_ref().map_or(&[][..], Threads::names);
    names.iter().filter(|name| !name.is_empty()).cloned().collect()
}
