//! Why a query is not answered.

use serde::Serialize;

use crate::response_body::ResponseBody;

/// A query that is not answered: whose fault it is, what is wrong, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[error("{message}")]
pub struct ApiError {
    /// Whose fault.
    #[serde(skip)]
    pub status: Status,
    /// What is wrong, a lowercase fragment.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub hint: Option<String>,
    /// Which condition of the filter is wrong, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub condition: Option<usize>,
    /// Byte of the condition's text at which it is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub at: Option<usize>,
}

/// What is sent in place of a response.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ErrorResponse<'a> {
    /// Why.
    pub error: &'a ApiError,
}

/// How asking went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// There is an answer.
    #[default]
    Answered,
    /// A snapshot is being analysed; the query is to be repeated: HTTP 202.
    Analysing,
    /// The query makes no sense: HTTP 400.
    Bad,
    /// A name that is asked for does not occur in what was looked at: HTTP 400.
    Absent,
    /// There is no such recording: HTTP 404.
    Unknown,
}

impl Status {
    /// The status of HTTP that says the same.
    pub const fn http(self) -> u16 {
        match self {
            Self::Answered => 200,
            Self::Analysing => 202,
            Self::Bad | Self::Absent => 400,
            Self::Unknown => 404,
        }
    }
}

impl ApiError {
    /// A query that makes no sense.
    pub fn bad(message: impl std::fmt::Display) -> Self {
        let message = message.to_string();
        Self { status: Status::Bad, message, hint: None, condition: None, at: None }
    }

    /// A query about a name that does not occur.
    pub fn absent(message: impl std::fmt::Display) -> Self {
        Self { status: Status::Absent, ..Self::bad(message) }
    }

    /// A query of a recording that is not there.
    pub fn unknown(message: impl std::fmt::Display) -> Self {
        Self { status: Status::Unknown, ..Self::bad(message) }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl std::fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// As a response: `{"error": {…}}`.
    pub fn answer(&self) -> ResponseBody {
        ResponseBody::new(ErrorResponse { error: self })
    }
}
