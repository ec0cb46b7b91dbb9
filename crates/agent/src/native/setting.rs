//! What is recorded of a native program, and how.

use std::path::PathBuf;

use memtrail_recording::session::Options;
use memtrail_sampler::Rate;

/// What does not change when the process forks.
pub(super) struct Setting {
    pub(super) options: Options,
    pub(super) session: PathBuf,
    pub(super) arguments: Vec<String>,
    /// Samples a word.
    pub(super) rate: f64,
    pub(super) per_byte: Rate,
    pub(super) seed: u64,
}
