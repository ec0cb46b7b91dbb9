//! The verdict on a recording, in one sentence. The command line, gates and the page show this one.

use memtrail_text::rounded::percent;

use super::descriptions::is_unjudged;
use super::response::{Conclusion, LeakVerdict, LeaksResponse};

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
