//! Why this process and its forked children cannot be sampled.

use std::sync::OnceLock;

static IMPOSSIBLE: OnceLock<String> = OnceLock::new();

/// Sets for good, as a fragment, why sampling is impossible.
pub(super) fn set_impossible(reason: String) {
    let _ = IMPOSSIBLE.set(reason);
}

/// Why sampling is impossible, if it is.
pub(super) fn impossible() -> Option<String> {
    IMPOSSIBLE.get().cloned()
}

/// The note that says so.
pub(super) fn nothing_recorded() -> Option<String> {
    impossible().map(|reason| format!("no allocations were recorded: {reason}"))
}
