//! What has come to the recordings since the page last heard of them.
//!
//! Only the latest of each recording is kept: a page that was slow hears where things stand now,
//! not everything that it missed. A page that connects hears at once of what grows or has ended.
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
use serde_json::{Value, json};
use tokio::sync::watch;

/// Tells all pages that listen; cheap to clone.
#[derive(Clone, Debug)]
pub struct News(watch::Sender<Vec<Latest>>);

/// Where a recording stands.
#[derive(Clone, Debug, PartialEq)]
struct Latest {
    recording: RecordingId,
    grown: Option<Grown>,
    snapshot: Option<u64>,
    analysed: Option<Done>,
    end: Option<End>,
}

#[derive(Clone, Debug, PartialEq)]
enum End {
    Ended(Option<String>),
    Lost(String),
}

/// A message to a page: the event's name and its data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) event: &'static str,
    pub(crate) data: Value,
}

/// What one page has heard.
pub(crate) struct Listener {
    news: watch::Receiver<Vec<Latest>>,
    heard: Vec<Latest>,
    /// It has asked for what there is when it connected.
    greeted: bool,
}

impl Default for News {
    fn default() -> Self {
        Self(watch::Sender::new(Vec::new()))
    }
}

impl News {
    /// There is a recording that may grow.
    pub fn added(&self, recording: RecordingId) {
        self.change(recording, |_| {});
    }

    /// More events have come to it.
    pub fn grown(&self, recording: RecordingId, grown: Grown) {
        self.change(recording, |latest| latest.grown = Some(grown));
    }

    /// There is a snapshot more, of this number.
    pub fn snapshot(&self, recording: RecordingId, number: u64) {
        self.change(recording, |latest| latest.snapshot = Some(number));
    }

    /// A snapshot has been analysed.
    pub fn analysed(&self, recording: RecordingId, done: Done) {
        self.change(recording, |latest| latest.analysed = Some(done));
    }

    /// Hears of every change.
    pub(crate) fn changes(&self) -> Changes {
        Changes(self.0.subscribe())
    }

    /// Nothing more will come; how it ended, in words, unless it just came to its end.
    pub fn ended(&self, recording: RecordingId, outcome: Option<String>) {
        self.change(recording, |latest| latest.end = Some(End::Ended(outcome)));
    }

    /// It cannot be followed any more; why, as a fragment.
    pub fn lost(&self, recording: RecordingId, why: impl Into<String>) {
        let why = why.into();
        self.change(recording, |latest| latest.end = Some(End::Lost(why)));
    }

    fn change(&self, recording: RecordingId, change: impl FnOnce(&mut Latest)) {
        self.0.send_modify(|all| {
            let at = all.iter().position(|latest| latest.recording == recording);
            let at = at.unwrap_or_else(|| {
                all.push(Latest {
                    recording,
                    grown: None,
                    snapshot: None,
                    analysed: None,
                    end: None,
                });
                all.len() - 1
            });
            change(&mut all[at]);
        });
    }

    pub(crate) fn listen(&self) -> Listener {
        Listener { news: self.0.subscribe(), heard: Vec::new(), greeted: false }
    }
}

/// That something has changed, whatever it is.
pub(crate) struct Changes(watch::Receiver<Vec<Latest>>);

impl Changes {
    /// Waits for the next change.
    pub(crate) async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            // There will be none.
            std::future::pending::<()>().await;
        }
    }
}

impl Listener {
    /// Waits for news; `None` when there will be none.
    pub(crate) async fn next(&mut self) -> Option<Vec<Message>> {
        loop {
            let is_new = self.greeted;
            if is_new {
                self.news.changed().await.ok()?;
            }
            self.greeted = true;
            let now = self.news.borrow_and_update().clone();
            let messages = difference(&self.heard, &now, is_new);
            self.heard = now;
            if !messages.is_empty() {
                return Some(messages);
            }
        }
    }
}

/// What `now` tells to someone who has heard `before`; `connected` if they have heard anything.
fn difference(before: &[Latest], now: &[Latest], connected: bool) -> Vec<Message> {
    let mut messages = Vec::new();
    for latest in now {
        let rec = latest.recording.0;
        let known = before.iter().find(|known| known.recording == latest.recording);
        if known.is_none() && connected {
            messages.push(Message { event: "added", data: json!({ "rec": rec }) });
        }
        if let Some(Grown { events, end }) = latest.grown
            && known.is_none_or(|known| known.grown != latest.grown)
        {
            let data = json!({ "rec": rec, "events": events, "end": end });
            messages.push(Message { event: "grown", data });
        }
        if let Some(number) = latest.snapshot
            && known.is_none_or(|known| known.snapshot != latest.snapshot)
        {
            let data = json!({ "rec": rec, "number": number });
            messages.push(Message { event: "snapshot", data });
        }
        if let Some(Done { number, ready, of }) = latest.analysed
            && known.is_none_or(|known| known.analysed != latest.analysed)
        {
            let data = json!({ "rec": rec, "number": number, "ready": ready, "of": of });
            messages.push(Message { event: "analysed", data });
        }
        if known.is_none_or(|known| known.end != latest.end) {
            messages.extend(latest.end.as_ref().map(|end| match end {
                End::Ended(outcome) => {
                    Message { event: "ended", data: json!({ "rec": rec, "outcome": outcome }) }
                }
                End::Lost(why) => {
                    Message { event: "lost", data: json!({ "rec": rec, "why": why }) }
                }
            }));
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(messages: &[Message]) -> Vec<String> {
        messages.iter().map(|m| format!("{} {}", m.event, m.data)).collect()
    }

    #[tokio::test]
    async fn pages_hear_the_latest_once() {
        let news = News::default();
        let (first, second) = (RecordingId(0), RecordingId(1));
        news.added(first);
        news.grown(first, Grown { events: 1, end: 0.5 });
        news.grown(first, Grown { events: 2, end: 1.5 });
        let mut early = news.listen();
        let heard = early.next().await.unwrap();
        assert_eq!(names(&heard), [r#"grown {"end":1.5,"events":2,"rec":0}"#]);
        news.added(second);
        news.ended(first, None);
        let heard = early.next().await.unwrap();
        assert_eq!(names(&heard), [r#"ended {"outcome":null,"rec":0}"#, r#"added {"rec":1}"#]);
        news.lost(second, "gone");
        let heard = early.next().await.unwrap();
        assert_eq!(names(&heard), [r#"lost {"rec":1,"why":"gone"}"#]);
        news.snapshot(first, 7);
        news.analysed(first, Done { number: 6, ready: 6, of: 7 });
        let heard = early.next().await.unwrap();
        assert_eq!(
            names(&heard),
            [
                r#"snapshot {"number":7,"rec":0}"#,
                r#"analysed {"number":6,"of":7,"ready":6,"rec":0}"#
            ]
        );
        let heard = news.listen().next().await.unwrap();
        assert_eq!(heard.len(), 5, "{heard:?}");
    }

    #[tokio::test]
    async fn no_more_news_end_the_listening() {
        let news = News::default();
        let mut listener = news.listen();
        drop(news);
        assert!(listener.next().await.is_none());
    }
}
