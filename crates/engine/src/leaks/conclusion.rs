//! The verdict on a recording, in one sentence. The command line, gates and the page show this one.

use memtrail_text::rounded::percent;
use serde::Serialize;

use super::descriptions::is_unjudged;
use super::response::LeaksResponse;

/// The verdict on a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Conclusion {
    /// The verdict.
    pub verdict: LeakVerdict,
    /// The same in a sentence.
    pub description: String,
}

/// The verdict, as programs read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum LeakVerdict {
    /// There are suspects.
    Leaks,
    /// There is no suspect, and too little evidence to rule a leak out.
    Undecided,
    /// There is no suspect.
    #[default]
    NoLeak,
}

impl Conclusion {
    /// The verdict on what was found so far.
    #[must_use]
    pub fn of(found: &LeaksResponse) -> Self {
        let count = found.suspects.len();
        let (verdict, description) = if count > 0 {
            let plural = if count == 1 { "suspect" } else { "suspects" };
            (LeakVerdict::Leaks, format!("{count} leak {plural}"))
        } else if let Some(unrecorded) = &found.unrecorded {
            let part = percent(unrecorded.share);
            let description =
                format!("no leak found, but {part} of resident memory was not recorded");
            (LeakVerdict::Undecided, description)
        } else if is_unjudged(found) && found.unreachable.is_none() {
            let part = percent(found.unjudged.share_of(found.alive));
            let description =
                format!("no leak found, but too little evidence on {part} of the heap");
            (LeakVerdict::Undecided, description)
        } else {
            (LeakVerdict::NoLeak, "no leak found".to_owned())
        };
        Self { verdict, description }
    }
}

impl LeaksResponse {
    /// Stores the verdict on what was found so far.
    pub fn conclude(&mut self) {
        self.conclusion = Conclusion::of(self);
    }
}
