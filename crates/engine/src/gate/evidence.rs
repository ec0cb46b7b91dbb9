//! What gates are judged by beside samples.

use crate::api_error::ApiError;
use crate::leaks::LeaksResponse;
use crate::recording::Recording;

/// What is known beside the recording's samples.
pub(crate) struct Evidence<'e> {
    /// Exact sizes of heap snapshots, the major heap and memory outside it: seconds since the start, and bytes.
    pub(crate) snapshots: Vec<(f64, u64)>,
    /// Whether the recording is of several processes together, and each snapshot of one of them.
    pub(crate) of_several: bool,
    /// What is suspected in the last snapshot; an error if there is none.
    pub(crate) leaks: Option<Result<LeaksResponse, ApiError>>,
    /// Recordings to compare with, by the places of gates.
    pub(crate) baselines: Vec<Option<&'e Recording>>,
    /// How many gates are judged beside these.
    pub(crate) beside: usize,
}
