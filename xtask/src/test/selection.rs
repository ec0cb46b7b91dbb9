//! The tests that are wanted.

/// Tests to run.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// Everything, on all compilers.
    pub(crate) all: bool,
    /// Install what is missing first.
    pub(crate) setup: bool,
    /// Only tests whose name contains this.
    pub(crate) pattern: Option<String>,
    /// Use this folder and its `target`, not the copy in the cache.
    pub(crate) here: bool,
}
