//! Estimates of sums, as a report has them.

use super::Amount;
use crate::estimate::Sum;
use crate::profile::Profile;

pub(super) fn amount(profile: &Profile, sum: &Sum) -> Amount {
    let (bytes, blocks) = (profile.estimator.bytes(sum), profile.estimator.blocks(sum));
    Amount {
        bytes: bytes.value,
        bytes_stderr: bytes.stderr,
        blocks: blocks.value,
        blocks_stderr: blocks.stderr,
        samples: sum.samples,
        recorded_blocks: sum.recorded,
    }
}

pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
