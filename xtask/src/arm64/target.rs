//! The compilation target.

/// As Rust names it.
pub(super) const TARGET: &str = "aarch64-unknown-linux-gnu";
