//! Strongly connected components: nodes that lead to each other (Tarjan).

use super::nodes::NO_BLOCK;

/// For each node that a start leads to, the number of its component; [`NO_BLOCK`] for others.
/// `successor` gives the successors of a node by their places.
pub(crate) fn components(
    nodes: usize,
    starts: impl Iterator<Item = u32>,
    successor: impl Fn(u32, usize) -> Option<u32>,
) -> Vec<u32> {
    let mut component = vec![NO_BLOCK; nodes];
    // When each was met, and the earliest that it leads back to.
    let mut met = vec![NO_BLOCK; nodes];
    let mut lowest = vec![NO_BLOCK; nodes];
    let mut count = 0;
    // The way to where we are, with the next successor of each, and all that have no component yet.
    let mut way: Vec<(u32, usize)> = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    for start in starts {
        if met[start as usize] == NO_BLOCK {
            way.push((start, 0));
        }
        while let Some((node, place)) = way.last_mut() {
            let at = *node as usize;
            if met[at] == NO_BLOCK {
                (met[at], lowest[at]) = (count, count);
                count += 1;
                open.push(*node);
            }
            if let Some(next) = successor(*node, *place) {
                *place += 1;
                let next = next as usize;
                if met[next] == NO_BLOCK {
                    way.push((next as u32, 0));
                } else if component[next] == NO_BLOCK {
                    lowest[at] = lowest[at].min(met[next]);
                }
                continue;
            }
            if lowest[at] == met[at] {
                while let Some(member) = open.pop() {
                    component[member as usize] = at as u32;
                    if member as usize == at {
                        break;
                    }
                }
            }
            way.pop();
            if let Some((parent, _)) = way.last() {
                let parent = *parent as usize;
                lowest[parent] = lowest[parent].min(lowest[at]);
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn members_lead_to_each_other(edges in proptest::collection::vec((0u32..8, 0u32..8), 0..20)) {
            let of = |node: u32| edges.iter().filter(move |(from, _)| *from == node).map(|(_, to)| *to);
            let found = components(8, 0..8, |node, place| of(node).nth(place));
            let reaches = |from: u32, to: u32| {
                let (mut seen, mut todo) = ([false; 8], vec![from]);
                while let Some(node) = todo.pop() {
                    if !std::mem::replace(&mut seen[node as usize], true) {
                        todo.extend(of(node));
                    }
                }
                seen[to as usize]
            };
            for a in 0..8 {
                for b in 0..8 {
                    let same = found[a as usize] == found[b as usize];
                    prop_assert_eq!(same, reaches(a, b) && reaches(b, a), "{} and {}", a, b);
                }
            }
        }
    }
}
