//! Processes that allocated too little for a snapshot at their end.

use crate::Description;

/// Bytes that a recorded child allocates at least before a snapshot is taken at its end, as far as samples tell.
pub const SMALLEST_WITH_LAST_SNAPSHOT: u64 = 1 << 20;

/// Note of a recording whose process allocated less.
pub const NO_LAST_SNAPSHOT: &str = "no snapshot was taken at its end: it allocated less than 1 MiB";

/// True if a process allocated too little for a snapshot at its end.
pub fn has_no_last_snapshot(description: &Description) -> bool {
    description.notes.iter().any(|note| note == NO_LAST_SNAPSHOT)
}
