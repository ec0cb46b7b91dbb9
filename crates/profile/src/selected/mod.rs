//! All that a view shows of the blocks that a filter keeps, from one pass over the rows.
//!
//! Rows are divided into parts that are gone through at the same time (feature `parallel`).
//! Results do not depend on how: what is summed up are whole numbers.

mod cells;
mod part;
mod peak;

pub use cells::{Cell, Cells};
pub use part::Selected;
pub use peak::peak;

use crate::density::Grid;
use crate::filter::Resolved;
use crate::profile::Profile;

/// Goes through the blocks that a filter keeps. `leaf_of_stack` says to which of `nodes` nodes of
/// a call tree, in preorder, the blocks of a backtrace belong; those of others to node 0.
pub fn choose(
    profile: &Profile,
    filter: &Resolved,
    leaf_of_stack: &[u32],
    nodes: usize,
) -> Selected {
    let adapted = profile.adapted.map(|adapted| adapted.lowest_samples_per_word);
    let rate = adapted.unwrap_or(profile.estimator.rate().0);
    let samples = profile.live_series.samples();
    let scale = cells::Scale::new(profile.blocks.len(), samples, profile.end, rate);
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
