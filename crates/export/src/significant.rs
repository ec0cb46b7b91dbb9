//! Keeps exports to a size that other tools can read: where a recording has more call paths than
//! that, what carries least is told as its callers'. Sums stay what they are.

use memtrail_trace::StackTree;

use crate::weight::Weight;

/// Frames in all paths together at most, each path written out.
const MOST_FRAMES: u64 = 3_000_000;
/// Nodes of the tree of all paths at most.
const MOST_NODES: u64 = 300_000;

/// Moves the weights of backtraces that carry too little, with all that go on from them, to the
/// one with a frame less. Returns how many samples are enough to be kept.
pub(crate) fn keep(stacks: &StackTree, weights: &mut [Weight]) -> u64 {
    limit(stacks, weights, MOST_FRAMES, MOST_NODES)
}

fn limit(stacks: &StackTree, weights: &mut [Weight], frames: u64, nodes: u64) -> u64 {
    let parents = stacks.parents();
    let mut total: Vec<u64> = weights.iter().map(|weight| weight.samples).collect();
    let mut depth = vec![0_u32; total.len()];
    // Children stand after their parents.
    for index in 1..depth.len() {
        depth[index] = depth[parents[index].0 as usize] + 1;
    }
    for index in (1..total.len()).rev() {
        let parent = parents[index].0 as usize;
        total[parent] = total[parent].saturating_add(total[index]);
    }
    let mut least = 1;
    while least < u64::MAX && !fits(weights, parents, &total, &depth, least, (frames, nodes)) {
        least = least.saturating_mul(2);
    }
    for index in (1..total.len()).rev() {
        if total[index] < least {
            let weight = std::mem::take(&mut weights[index]);
            weights[parents[index].0 as usize] += weight;
        }
    }
    least
}

/// Whether there are few enough paths if those of fewer than `least` samples are not kept.
fn fits(
    weights: &[Weight],
    parents: &[memtrail_trace::StackId],
    total: &[u64],
    depth: &[u32],
    least: u64,
    (most_frames, most_nodes): (u64, u64),
) -> bool {
    let (mut frames, mut nodes) = (0, 0);
    // Whether something is written of exactly this path: its own, or what is not kept below it.
    let mut written = vec![false; total.len()];
    for index in (1..total.len()).rev() {
        if total[index] >= least {
            nodes += 1;
            if written[index] || !weights[index].is_nothing() {
                frames += u64::from(depth[index]);
            }
        } else if total[index] > 0 {
            written[parents[index].0 as usize] = true;
        }
    }
    frames <= most_frames && nodes <= most_nodes
}

#[cfg(test)]
mod tests {
    use memtrail_trace::{FrameId, StackId};

    use super::*;

    #[test]
    fn small_paths_become_their_callers_and_nothing_is_lost() {
        let mut stacks = StackTree::new();
        let mut weights = vec![Weight::default()];
        for branch in 0..100 {
            let mut at = StackId::ROOT;
            for level in 0..50 {
                at = stacks.intern(at, FrameId(branch * 100 + level));
                let samples = u64::from(branch) + 1;
                weights.push(Weight { samples, blocks: 1.0, ..Weight::default() });
            }
        }
        let all: u64 = weights.iter().map(|weight| weight.samples).sum();
        for (frames, nodes) in [(u64::MAX, u64::MAX), (20_000, u64::MAX), (u64::MAX, 300), (0, 0)] {
            let mut weights = weights.clone();
            let least = limit(&stacks, &mut weights, frames, nodes);
            let left: Vec<usize> =
                (0..weights.len()).filter(|&at| !weights[at].is_nothing()).collect();
            assert_eq!(weights.iter().map(|weight| weight.samples).sum::<u64>(), all);
            let depth = |at: usize| stacks.path(StackId(at as u32)).count() as u64;
            assert!(left.iter().map(|&at| depth(at)).sum::<u64>() <= frames);
            assert!(left.len() as u64 <= nodes.saturating_add(1));
            assert_eq!(least == 1, nodes == u64::MAX && frames == u64::MAX);
        }
    }

    #[test]
    fn chains_of_any_depth_are_no_recursion() {
        let mut stacks = StackTree::new();
        let mut at = StackId::ROOT;
        for level in 0..1_000_000 {
            at = stacks.intern(at, FrameId(level));
        }
        let mut weights = vec![Weight::default(); stacks.len()];
        weights[at.0 as usize].samples = 7;
        assert_eq!(keep(&stacks, &mut weights), 8);
        assert_eq!(weights[0].samples, 7);
    }
}
