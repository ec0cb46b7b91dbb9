//! Something that memtrail can or cannot do with a program.

use serde::Serialize;

use crate::error::Failure;

/// The answer: it works, partly, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Works {
    Yes,
    /// With a restriction, which the reason names.
    Partly,
    No,
}

/// Something that memtrail can or cannot do.
#[derive(Debug, Serialize)]
pub(super) struct Ability {
    /// A command, or what it shows.
    pub(super) name: &'static str,
    pub(super) works: Works,
    /// Why it does not work, or what the answer rests on.
    pub(super) reason: Option<String>,
    /// The way out where it does not.
    pub(super) way_out: Option<String>,
}

impl Ability {
    pub(super) fn yes(name: &'static str, reason: Option<String>) -> Self {
        Self { name, works: Works::Yes, reason, way_out: None }
    }

    pub(super) fn partly(name: &'static str, reason: String, way_out: Option<String>) -> Self {
        Self { name, works: Works::Partly, reason: Some(reason), way_out }
    }

    pub(super) fn no(name: &'static str, reason: String, way_out: Option<String>) -> Self {
        Self { name, works: Works::No, reason: Some(reason), way_out }
    }

    /// The ability to do something that fails in this way.
    pub(super) fn judge(name: &'static str, attempt: Result<(), Failure>, reason: &str) -> Self {
        match attempt {
            Ok(()) => Self::yes(name, Some(reason.to_owned()).filter(|text| !text.is_empty())),
            Err(failure) => {
                Self::no(name, failure.message().to_owned(), failure.hint_text().map(str::to_owned))
            }
        }
    }
}
