//! All that a view shows of the blocks that a filter keeps, from one pass over the rows.
//!
//! Rows are divided into parts that are gone through at the same time (feature `parallel`).
//! Results do not depend on how: what is summed up are whole numbers.

mod cells;
mod part;
mod peak;

pub use cells::{Cell, Cells};
pub use peak::peak;

use crate::density::{Density, Grid};
use crate::estimate::Sum;
use crate::filter::Resolved;
use crate::profile::Profile;

/// What there is to say of the blocks that a filter keeps.
#[derive(Clone, Debug)]
pub struct Selected {
    /// How much it is.
    pub sum: Sum,
    /// Samples in blocks that were never collected.
    pub live_end: u64,
    /// Σ samples · lifetime, in sample-microseconds.
    pub age: f64,
    /// How much it is by place in a call tree.
    pub cells: Cells,
    /// Live samples at the end of each bucket of the profile's [`course`](Profile::live_series).
    pub live_series: Vec<u64>,
    /// Samples that came in each bucket.
    births: Vec<u64>,
    /// When they were allocated, and how long they lived.
    pub density: Density,
}

/// Goes through the blocks that a filter keeps. `leaf_of_stack` says to which of `nodes` nodes of
/// a call tree, in preorder, the blocks of a backtrace belong; those of others to node 0.
pub fn choose(
    profile: &Profile,
    filter: &Resolved,
    leaf_of_stack: &[u32],
    nodes: usize,
) -> Selected {
    let scale = cells::Scale::new(profile);
    let weights = profile.estimator.small().iter().map(|&weight| scale.blocks(weight)).collect();
    let pass = part::Pass {
        profile,
        filter,
        leaf_of_stack,
        nodes: nodes.max(1),
        grid: Grid::new(profile.end),
        scale,
        weights,
    };
    pass.run(0..profile.blocks.len(), part::parts()).finish(&pass)
}

impl Selected {
    /// Bytes that this occupies.
    pub fn memory(&self) -> usize {
        let density = self.density.samples.len() + self.density.never.len();
        self.cells.memory()
            + (self.live_series.len() + self.births.len() + density) * size_of::<u64>()
            + size_of::<Self>()
    }
}
