//! The blocks of a file of references, with what the trace has of them.

use memtrail_profile::blocks::Row;
use memtrail_profile::estimate::Sum;
use memtrail_references::{Node, References};

use crate::leaks::BlocksEstimate;
use crate::recording::Recording;

impl BlocksEstimate {
    pub(super) fn of(recording: &Recording, sum: &Sum) -> Self {
        let estimator = &recording.profile().estimator;
        Self { bytes: estimator.bytes(sum), blocks: estimator.blocks(sum), sampled: sum.recorded }
    }
}

/// Adds a block to a sum.
pub(super) fn add(recording: &Recording, sum: &mut Sum, row: Row) {
    let profile = recording.profile();
    profile.estimator.add_row(sum, &profile.blocks, row);
}

/// When the references were found, in seconds since the recording's start.
pub(super) fn seconds(recording: &Recording, references: &References) -> f64 {
    let start = recording.profile().info.start.0;
    references.taken_unix_us.saturating_sub(start) as f64 / 1e6
}

/// The sampled blocks, with their allocation.
pub(super) fn sampled<'r>(
    recording: &'r Recording,
    references: &'r References,
) -> impl Iterator<Item = (Node, Row)> + 'r {
    (0_u32..).zip(&references.blocks).filter_map(|(number, block)| {
        Some((Node(number), recording.profile().find(block.sampled?)?))
    })
}
