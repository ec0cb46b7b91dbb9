//! What a query about snapshots leads to: a response, or that a snapshot has to be analysed first.

use serde::Serialize;

use crate::response_body::ResponseBody;

/// A response, or the snapshot that has to be analysed first.
#[derive(Clone, Debug)]
pub enum Outcome<T> {
    /// The response.
    Ready(OfSnapshot<T>),
    /// The number of a snapshot that is being analysed; the query is to be repeated.
    Analysing(u64),
}

/// A response about a snapshot.
#[derive(Clone, Debug, Serialize)]
pub struct OfSnapshot<T> {
    /// The query's own response.
    #[serde(flatten)]
    pub response: T,
    /// What is wrong with the snapshot, if all figures are of a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
}

impl<T> Outcome<T> {
    /// A response about snapshots that are whole, or that says itself which are not.
    pub(crate) fn ready(response: T) -> Self {
        Self::Ready(OfSnapshot { response, partial: None })
    }
}

/// What a query gets that has to wait.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Analysing {
    /// The number of the snapshot that is being analysed.
    pub snapshot: u64,
}

/// A response that says that the query is to be repeated.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct AnalysingResponse {
    analysing: Analysing,
}

/// The name of the only field of an [`AnalysingResponse`].
const ANALYSING: &str = "analysing";

/// Whether a response says that the query has to be repeated when a snapshot is analysed.
pub(crate) fn is_analysing(response: &ResponseBody) -> bool {
    response.header().contains_key(ANALYSING)
}

impl<T: Serialize> From<Outcome<T>> for ResponseBody {
    fn from(outcome: Outcome<T>) -> Self {
        match outcome {
            Outcome::Ready(response) => Self::new(response),
            Outcome::Analysing(snapshot) => {
                Self::new(AnalysingResponse { analysing: Analysing { snapshot } })
            }
        }
    }
}
