//! What the runtime's sampler is started with.

use memtrail_ocaml::block::Value;

/// What the runtime's sampler is started with. All of it lives for ever.
#[derive(Clone, Copy)]
pub(crate) struct Arguments {
    pub(crate) rate: Value,
    pub(crate) frames: Value,
    pub(crate) tracker: Value,
    /// The closure by which a profile is known to be ours.
    pub(crate) ours: Value,
    /// Whether it is worth looking for the variables by which the rate is changed.
    pub(crate) finds_variables: bool,
}
