//! The reason that a question has no answer.

use memtrail_heap::graph::Failed;
use memtrail_heap::read;

use crate::api_error::ApiError;

/// The reason that a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// The snapshot is damaged, or there is no room for its analysis.
    #[error(transparent)]
    Snapshot(#[from] Failed),
    /// The recording lacks something that the question is about.
    #[error(transparent)]
    Missing(ApiError),
    /// The question makes no sense for this snapshot.
    #[error(transparent)]
    Refused(#[from] ApiError),
}

impl From<read::Error> for Unanswered {
    fn from(error: read::Error) -> Self {
        Self::Snapshot(error.into())
    }
}
