//! Sums of estimates over processes, which were sampled independently of each other.

use memtrail_engine::heap::AliveEstimate;
use memtrail_engine::leaks::BlocksEstimate;
use memtrail_profile::estimate::Estimate;
use serde::Serialize;

/// What is estimated of blocks of all processes.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Alive {
    /// Bytes, sampled or not.
    pub(super) bytes: Estimate,
    /// How many, sampled or not.
    pub(super) blocks: Estimate,
    /// How many were sampled.
    pub(super) sampled: u64,
}

impl Alive {
    /// Adds those of one more process.
    pub(super) fn add(&mut self, more: Self) {
        self.bytes += more.bytes;
        self.blocks += more.blocks;
        self.sampled += more.sampled;
    }

    /// Their share of others.
    pub(super) fn share_of(&self, all: Self) -> f64 {
        if all.bytes.value > 0.0 { self.bytes.value / all.bytes.value } else { 0.0 }
    }

    /// Their size as text; nothing if there are none.
    pub(super) fn text(&self) -> String {
        if self.bytes.value > 0.0 { self.bytes.size() } else { String::new() }
    }

    /// For an order by size, largest first.
    pub(super) fn descending(&self) -> impl Ord + use<> {
        std::cmp::Reverse(self.bytes.value.round() as u64)
    }
}

impl From<&AliveEstimate> for Alive {
    fn from(of: &AliveEstimate) -> Self {
        Self { bytes: of.bytes, blocks: of.blocks, sampled: of.sampled }
    }
}

impl From<&BlocksEstimate> for Alive {
    fn from(of: &BlocksEstimate) -> Self {
        Self { bytes: of.bytes, blocks: of.blocks, sampled: of.sampled }
    }
}
