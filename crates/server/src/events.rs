//! What has come to the recordings since the page last heard of them.
//!
//! Pages ask again and again: `GET api/events?since=VERSION` is answered at once with what has
//! changed since that version, and with the version to ask with next. Nothing is held open, so that
//! any number of pages may be. Only the latest of each recording is kept: a page that was slow
//! hears where things stand now, not everything that it missed. A page that asks for the first time
//! hears of what grows or has ended.
//!
//! | event | data | when |
//! |---|---|---|
//! | `added` | `{rec}` | there is one recording more |
//! | `grown` | `{rec, events, end}` | more events; `end` is the time of the last, in seconds |
//! | `snapshot` | `{rec, number}` | there is one heap snapshot more, or several: the last one |
//! | `analysed` | `{rec, number, ready, of}` | a snapshot has been analysed; how many of how many have |
//! | `ended` | `{rec, outcome}` | nothing more will come, and how it ended (`null`: by itself) |
//! | `lost` | `{rec, why}` | the recording cannot be followed any more |

use memtrail_engine::{Done, Grown, RecordingId};
use serde::Serialize;
use tokio::sync::watch;

/// What has changed since a version.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct EventsResponse {
    events: Vec<RecordingEvent>,
    /// What to ask with the next time.
    version: u64,
}

/// What has come to a recording.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
enum RecordingEvent {
    /// It is there.
    Added { rec: u32 },
    /// More events; `end` is the time of the last, in seconds.
    Grown { rec: u32, events: u64, end: f64 },
    /// One heap snapshot more, or several: the number of the last.
    Snapshot { rec: u32, number: u64 },
    /// A snapshot has been analysed; how many of how many have.
    Analysed { rec: u32, number: u64, ready: usize, of: usize },
    /// Nothing more will come; how it ended, in words, unless it just came to its end.
    Ended { rec: u32, outcome: Option<String> },
    /// It cannot be followed any more.
    Lost { rec: u32, why: String },
}

/// Tells all pages that ask; cheap to clone.
#[derive(Clone, Debug)]
pub struct RecordingEvents(watch::Sender<State>);

/// Where things stand. Each change has a number, the version that it made.
#[derive(Debug, Default)]
struct State {
    version: u64,
    recordings: Vec<RecordingState>,
}

/// Where a recording stands: each fact with the version that it came with.
#[derive(Debug)]
struct RecordingState {
    recording: RecordingId,
    added: Option<u64>,
    grown: Option<(u64, Grown)>,
    snapshot: Option<(u64, u64)>,
    analysed: Option<(u64, Done)>,
    end: Option<(u64, End)>,
}

#[derive(Clone, Debug, PartialEq)]
enum End {
    Ended(Option<String>),
    Lost(String),
}

impl Default for RecordingEvents {
    fn default() -> Self {
        Self(watch::Sender::new(State::default()))
    }
}

impl RecordingEvents {
    /// There is a recording that may grow.
    pub fn added(&self, recording: RecordingId) {
        self.change(recording, |latest, version| latest.added = Some(version));
    }

    /// More events have come to it.
    pub fn grown(&self, recording: RecordingId, grown: Grown) {
        self.change(recording, |latest, version| replace(&mut latest.grown, version, grown));
    }

    /// There is a snapshot more, of this number.
    pub fn snapshot(&self, recording: RecordingId, number: u64) {
        self.change(recording, |latest, version| replace(&mut latest.snapshot, version, number));
    }

    /// A snapshot has been analysed.
    pub fn analysed(&self, recording: RecordingId, done: Done) {
        self.change(recording, |latest, version| replace(&mut latest.analysed, version, done));
    }

    /// Nothing more will come; how it ended, in words, unless it just came to its end.
    pub fn ended(&self, recording: RecordingId, outcome: Option<String>) {
        let end = End::Ended(outcome);
        self.change(recording, |latest, version| replace(&mut latest.end, version, end));
    }

    /// It cannot be followed any more; why, as a fragment.
    pub fn lost(&self, recording: RecordingId, why: impl Into<String>) {
        let end = End::Lost(why.into());
        self.change(recording, |latest, version| replace(&mut latest.end, version, end));
    }

    fn change(&self, recording: RecordingId, change: impl FnOnce(&mut RecordingState, u64)) {
        self.0.send_modify(|state| {
            state.version += 1;
            let version = state.version;
            let known = state.recordings.iter().position(|latest| latest.recording == recording);
            let at = known.unwrap_or_else(|| {
                state.recordings.push(RecordingState {
                    recording,
                    added: None,
                    grown: None,
                    snapshot: None,
                    analysed: None,
                    end: None,
                });
                state.recordings.len() - 1
            });
            change(&mut state.recordings[at], version);
        });
    }

    /// What has changed since a version, and the version now. Without one, all that there is.
    pub(crate) fn since(&self, version: Option<u64>) -> EventsResponse {
        let state = self.0.borrow();
        let events = state.recordings.iter().flat_map(|latest| latest.since(version)).collect();
        EventsResponse { version: state.version, events }
    }

    /// Hears of every change.
    pub(crate) fn changes(&self) -> Changes {
        Changes(self.0.subscribe())
    }
}

/// Sets a fact, unless it is that already.
fn replace<T: PartialEq>(fact: &mut Option<(u64, T)>, version: u64, value: T) {
    if fact.as_ref().is_none_or(|(_, known)| *known != value) {
        *fact = Some((version, value));
    }
}

impl RecordingState {
    fn since(&self, version: Option<u64>) -> Vec<RecordingEvent> {
        let rec = self.recording.0;
        let is_new = |changed: u64| version.is_none_or(|version| changed > version);
        let mut events = Vec::new();
        // A page that asks for the first time has just heard what recordings there are.
        if version.is_some() && self.added.is_some_and(is_new) {
            events.push(RecordingEvent::Added { rec });
        }
        if let Some((changed, Grown { events: count, end })) = self.grown
            && is_new(changed)
        {
            events.push(RecordingEvent::Grown { rec, events: count, end });
        }
        if let Some((changed, number)) = self.snapshot
            && is_new(changed)
        {
            events.push(RecordingEvent::Snapshot { rec, number });
        }
        if let Some((changed, Done { number, ready, of })) = self.analysed
            && is_new(changed)
        {
            events.push(RecordingEvent::Analysed { rec, number, ready, of });
        }
        if let Some((changed, end)) = &self.end
            && is_new(*changed)
        {
            events.push(match end.clone() {
                End::Ended(outcome) => RecordingEvent::Ended { rec, outcome },
                End::Lost(why) => RecordingEvent::Lost { rec, why },
            });
        }
        events
    }
}

/// That something has changed, whatever it is.
pub(crate) struct Changes(watch::Receiver<State>);

impl Changes {
    /// Waits for the next change.
    pub(crate) async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            // There will be none.
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The version, and the events as text.
    fn heard(recording_events: &RecordingEvents, since: Option<u64>) -> (Option<u64>, Vec<String>) {
        let answer = serde_json::to_value(recording_events.since(since)).unwrap();
        let events = answer["events"].as_array().unwrap();
        (answer["version"].as_u64(), events.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn pages_hear_the_latest_once() {
        let recording_events = RecordingEvents::default();
        let (first, second) = (RecordingId(0), RecordingId(1));
        assert_eq!(heard(&recording_events, None), (Some(0), vec![]));
        recording_events.added(first);
        recording_events.grown(first, Grown { events: 1, end: 0.5 });
        recording_events.grown(first, Grown { events: 2, end: 1.5 });
        let (version, events) = heard(&recording_events, None);
        assert_eq!(events, [r#"{"end":1.5,"events":2,"kind":"grown","rec":0}"#]);
        assert_eq!(heard(&recording_events, version), (version, vec![]));
        recording_events.added(second);
        recording_events.ended(first, None);
        let (version, events) = heard(&recording_events, version);
        let ended = r#"{"kind":"ended","outcome":null,"rec":0}"#;
        assert_eq!(events, [ended, r#"{"kind":"added","rec":1}"#]);
        recording_events.lost(second, "gone");
        // What is as it was makes no event.
        recording_events.grown(first, Grown { events: 2, end: 1.5 });
        let (version, events) = heard(&recording_events, version);
        assert_eq!(events, [r#"{"kind":"lost","rec":1,"why":"gone"}"#]);
        recording_events.snapshot(first, 7);
        recording_events.analysed(first, Done { number: 6, ready: 6, of: 7 });
        let (_, events) = heard(&recording_events, version);
        assert_eq!(
            events,
            [
                r#"{"kind":"snapshot","number":7,"rec":0}"#,
                r#"{"kind":"analysed","number":6,"of":7,"ready":6,"rec":0}"#
            ]
        );
        assert_eq!(heard(&recording_events, None).1.len(), 5);
    }
}
