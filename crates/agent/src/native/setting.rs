//! What is recorded of a native program, and how.

use std::path::{Path, PathBuf};

use memtrail_recording::session::{Options, Pace};
use memtrail_sampler::Rate;

use crate::sampling::seeding;

/// Samples a word where the user has not given a rate: one for 512 KiB.
const DEFAULT_RATE: f64 = 8.0 / (512 << 10) as f64;

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

impl Setting {
    /// Keeps the setting of a session for the life of the process. The error is a reason.
    pub(super) fn keep(
        options: Options,
        session: &Path,
        arguments: Vec<String>,
    ) -> Result<&'static Self, String> {
        let rate = match options.pace {
            Pace::Adaptive => options.rate.min(DEFAULT_RATE),
            Pace::Constant | Pace::Varying => options.rate,
        };
        // The trace's rate is per word. At one sample a word all blocks are recorded as they are.
        let per_byte = if rate >= 1.0 { Ok(Rate::EXACT) } else { Rate::per_byte(rate / 8.0) };
        let per_byte = per_byte.map_err(|error| error.to_string())?;
        let seed = options.seed.unwrap_or_else(seeding::random);
        let session = session.to_owned();
        Ok(Box::leak(Box::new(Self { options, session, arguments, rate, per_byte, seed })))
    }
}
