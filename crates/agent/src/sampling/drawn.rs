//! How a sample came to be.

use crate::context::halvings::Halvings;

/// How a sample came to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drawn {
    /// The rate that it was drawn with.
    pub(crate) halvings: Halvings,
    /// Whether no distance that was drawn before is used after its callback.
    pub(crate) last: bool,
}
