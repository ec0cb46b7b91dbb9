//! Snapshots that the page asks a running program for.

use std::fmt::Debug;

use memtrail_engine::{ApiError, RecordingId};

/// Asks a recording's program for a heap snapshot. It does not wait for it: an event will report it.
pub trait SnapshotTrigger: Debug + Send + Sync {
    /// Asks.
    ///
    /// # Errors
    /// If the program does not run any more, or takes none.
    fn take(&self, recording: RecordingId) -> Result<(), ApiError>;
}
