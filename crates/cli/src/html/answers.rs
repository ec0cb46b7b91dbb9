//! Answers about the last snapshot of a recording that has no room in the page: its leaks and its largest owners.

use memtrail_engine::{Description, Engine, Setting, Status};
use memtrail_recording::Recording;

use super::gzip::gzip;
use super::privacy::Privacy;
use super::snapshots;
use crate::snapshot_file::MemoryArgs;

/// Questions whose answers are stored; the page slices the rows of owners.
const QUESTIONS: [(&str, u32); 2] = [("heapleaks", 20), ("heapowners", 200)];

/// An answer about a snapshot that is not in the page.
pub(super) struct Answer {
    /// The name of its query.
    pub(super) query: &'static str,
    /// Number of the snapshot.
    pub(super) snapshot: u64,
    /// The response, gzipped.
    pub(super) bytes: Vec<u8>,
}

/// Asks about the last snapshot of a recording, of which the page has this trace. Nothing that cannot be answered is
/// stored.
pub(super) fn of_last(
    recording: &Recording,
    trace: &[u8],
    description: Description,
    privacy: Privacy,
    memory: MemoryArgs,
) -> Vec<Answer> {
    let engine = Engine::new(Setting { live: false, offline: true });
    let id = if trace.is_empty() {
        engine.add_without_trace(description)
    } else {
        let Ok(id) = engine.add(trace, description, &mut |_| ()) else { return Vec::new() };
        id
    };
    let mut last = None;
    for (facts, file) in snapshots::of(recording, memory) {
        let (facts, file) = privacy.snapshot(facts, file);
        last = Some(facts.number);
        engine.add_snapshot(id, facts, Some(file));
    }
    let Some(snapshot) = last else { return Vec::new() };
    let answer = |(query, limit): (&'static str, u32)| {
        let text = format!(
            r#"{{"query":"{query}","rec":{},"snapshot":{snapshot},"limit":{limit}}}"#,
            id.0
        );
        let response = engine.query(text.as_bytes());
        let is_answered = response.status == Status::Answered;
        is_answered.then(|| Answer { query, snapshot, bytes: gzip(&response.bytes) })
    };
    QUESTIONS.into_iter().filter_map(answer).collect()
}
