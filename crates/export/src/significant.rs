//! Keeps exports to a size that other tools can read: where a recording has more call paths than
//! that, what carries least is counted as its callers'. Sums stay what they are. Recursion makes most
//! of such numbers of paths, so before that only the outermost occurrence of each function on a
//! path is kept, as on the page.

use crate::weight::Weight;

/// How much a format can take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Most {
    /// Frames in all paths together, each path written out.
    pub(crate) frames: u64,
    /// Nodes of the tree of all paths.
    pub(crate) nodes: u64,
}

/// Whether all of a tree can be kept.
pub(crate) fn all_fits(parents: &[u32], weights: &[Weight], most: Most) -> bool {
    let (total, depth) = sums(parents, weights);
    fits(weights, parents, &total, &depth, 1, most)
}

/// What is kept of a tree.
pub(crate) struct Kept {
    /// So many samples are enough to be kept; 1 if all of it is.
    pub(crate) least: u64,
    /// The node that has what each node had: itself, or the nearest one above it that is kept.
    pub(crate) at: Vec<u32>,
}

/// In a tree, given by the `parents` of its nodes, which stand before their children: moves the
/// weights of nodes that carry too little, with all below them, to their parents.
pub(crate) fn keep(parents: &[u32], weights: &mut [Weight], most: Most) -> Kept {
    let (total, depth) = sums(parents, weights);
    let mut least = 1;
    while least < u64::MAX && !fits(weights, parents, &total, &depth, least, most) {
        least = least.saturating_mul(2);
    }
    for index in (1..total.len()).rev() {
        if total[index] < least {
            let weight = std::mem::take(&mut weights[index]);
            weights[parents[index] as usize] += weight;
        }
    }
    let mut at: Vec<u32> = (0..total.len() as u32).collect();
    for index in 1..total.len() {
        if total[index] < least && least > 1 {
            at[index] = at[parents[index] as usize];
        }
    }
    Kept { least, at }
}

/// The samples of each node and of all below it, and how deep it stands.
fn sums(parents: &[u32], weights: &[Weight]) -> (Vec<u64>, Vec<u32>) {
    let mut total: Vec<u64> = weights.iter().map(|weight| weight.samples).collect();
    let mut depth = vec![0_u32; total.len()];
    // Children stand after their parents.
    for index in 1..depth.len() {
        depth[index] = depth[parents[index] as usize] + 1;
    }
    for index in (1..total.len()).rev() {
        let parent = parents[index] as usize;
        total[parent] = total[parent].saturating_add(total[index]);
    }
    (total, depth)
}

/// Whether there are few enough paths if those of fewer than `least` samples are not kept.
fn fits(
    weights: &[Weight],
    parents: &[u32],
    total: &[u64],
    depth: &[u32],
    least: u64,
    most: Most,
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
            written[parents[index] as usize] = true;
        }
    }
    frames <= most.frames && nodes <= most.nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_paths_become_their_callers_and_nothing_is_lost() {
        let (mut parents, mut depths) = (vec![0], vec![0]);
        let mut weights = vec![Weight::default()];
        for branch in 0..100 {
            for level in 0..50 {
                parents.push(if level == 0 { 0 } else { parents.len() as u32 - 1 });
                depths.push(level + 1);
                weights.push(Weight { samples: branch + 1, blocks: 1.0, ..Weight::default() });
            }
        }
        let all: u64 = weights.iter().map(|weight| weight.samples).sum();
        for (frames, nodes) in [(u64::MAX, u64::MAX), (20_000, u64::MAX), (u64::MAX, 300), (0, 0)] {
            let mut weights = weights.clone();
            let Kept { least, at } = keep(&parents, &mut weights, Most { frames, nodes });
            let left: Vec<usize> =
                (0..weights.len()).filter(|&at| !weights[at].is_nothing()).collect();
            assert_eq!(weights.iter().map(|weight| weight.samples).sum::<u64>(), all);
            assert!(left.iter().map(|&at| depths[at]).sum::<u64>() <= frames);
            assert!(left.iter().all(|&node| at[node] == node as u32));
            assert!(left.len() as u64 <= nodes.saturating_add(1));
            assert_eq!(least == 1, nodes == u64::MAX && frames == u64::MAX);
        }
    }

    #[test]
    fn chains_of_any_depth_are_no_recursion() {
        let parents: Vec<u32> = (0..1_000_000_u32).map(|node| node.saturating_sub(1)).collect();
        let mut weights = vec![Weight::default(); parents.len()];
        weights[parents.len() - 1].samples = 7;
        let most = Most { frames: u64::MAX, nodes: 1000 };
        assert_eq!(keep(&parents, &mut weights, most).least, 8);
        assert_eq!(weights[0].samples, 7);
    }
}
