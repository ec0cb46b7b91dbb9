//! The nodes of a call tree in the order of their paths read from the inside out.
//!
//! Nodes whose paths end alike stand together, so every fragment of a path that occurs somewhere is
//! a range of this order: it is the suffix array of the paths read outwards. Sorted by doubling
//! (U. Manber and G. Myers, *Suffix Arrays*, SIAM J. Comput. 22, 1993): once nodes are sorted by
//! their innermost *n* entities, the place of the *n*-th ancestor sorts them by 2 *n*.
//! O(n log n log depth) time, whatever the tree.

/// The order. All columns have an element a node.
#[derive(Debug)]
pub(super) struct Suffixes {
    /// The nodes in order.
    pub(super) order: Vec<u32>,
    /// How many entities, from the innermost on, each has in common with the one before it.
    pub(super) common: Vec<u32>,
    /// The place of each node in the order.
    pub(super) place: Vec<u32>,
    /// Entities of each node's path, the root not counted.
    pub(super) depth: Vec<u32>,
}

/// What is known of all nodes once so many of their entities have been compared.
struct Level {
    entities: u32,
    /// Equal for nodes that are equal so far.
    place: Vec<u32>,
    ancestor: Vec<u32>,
}

impl Suffixes {
    pub(super) fn new(entity: &[u32], parent: &[u32]) -> Self {
        let nodes = entity.len();
        let (mut order, mut groups) = by_entity(entity);
        let mut place = vec![0; nodes];
        assign(&order, &groups, &mut place);
        groups.retain(|&(start, end)| end - start > 1);
        let mut ancestor = parent.to_vec();
        let mut compared = 1_u32;
        let mut levels: Vec<Level> = Vec::new();
        let mut keys: Vec<u64> = Vec::new();
        while !groups.is_empty() {
            if compared.ilog2().is_multiple_of(3) && compared > 1 {
                let (place, ancestor) = (place.clone(), ancestor.clone());
                levels.push(Level { entities: compared, place, ancestor });
            }
            let mut parts = Vec::new();
            for &(start, end) in &groups {
                let group = &mut order[start as usize..end as usize];
                keys.clear();
                keys.extend(group.iter().map(|&node| {
                    u64::from(place[ancestor[node as usize] as usize]) << 32 | u64::from(node)
                }));
                keys.sort_unstable();
                let mut from = start;
                for (at, &key) in keys.iter().enumerate() {
                    group[at] = key as u32;
                    if at > 0 && keys[at - 1] >> 32 != key >> 32 {
                        parts.push((from, start + at as u32));
                        from = start + at as u32;
                    }
                }
                parts.push((from, end));
            }
            assign(&order, &parts, &mut place);
            parts.retain(|&(start, end)| end - start > 1);
            groups = parts;
            if !groups.is_empty() {
                ancestor = ancestor.iter().map(|&node| ancestor[node as usize]).collect();
                compared = compared.saturating_mul(2);
            }
        }
        let common = common(entity, parent, &order, &levels);
        // Parents stand before their children.
        let mut depth = vec![0; nodes];
        for node in 1..nodes {
            depth[node] = depth[parent[node] as usize] + 1;
        }
        Self { order, common, place, depth }
    }

    pub(super) fn memory(&self) -> usize {
        self.order.len() * 16
    }

    /// The places, `start` and `end`, of all nodes that have `len` innermost entities like `node`.
    pub(super) fn like(&self, node: u32, len: u32) -> (usize, usize) {
        let mut start = self.place[node as usize] as usize;
        let mut end = start + 1;
        while self.common[start] >= len {
            start -= 1;
        }
        while self.common.get(end).is_some_and(|&common| common >= len) {
            end += 1;
        }
        (start, end)
    }
}

/// Nodes by entity, and where the nodes of each entity stand.
fn by_entity(entity: &[u32]) -> (Vec<u32>, Vec<(u32, u32)>) {
    let kinds = entity.iter().max().map_or(0, |&last| last as usize + 1);
    let mut ends = vec![0_u32; kinds];
    for &entity in entity {
        ends[entity as usize] += 1;
    }
    let mut sum = 0;
    let mut groups = Vec::new();
    for end in &mut ends {
        let start = sum;
        sum += *end;
        *end = start;
        if sum > start {
            groups.push((start, sum));
        }
    }
    let mut order = vec![0; entity.len()];
    for (node, &entity) in entity.iter().enumerate() {
        let next = &mut ends[entity as usize];
        order[*next as usize] = node as u32;
        *next += 1;
    }
    (order, groups)
}

fn assign(order: &[u32], groups: &[(u32, u32)], place: &mut [u32]) {
    for &(start, end) in groups {
        for &node in &order[start as usize..end as usize] {
            place[node as usize] = start;
        }
    }
}

fn common(entity: &[u32], parent: &[u32], order: &[u32], levels: &[Level]) -> Vec<u32> {
    let mut common = vec![0; order.len()];
    for (pair, common) in order.windows(2).zip(common.iter_mut().skip(1)) {
        let (mut a, mut b) = (pair[0] as usize, pair[1] as usize);
        // Paths of different nodes differ, at the root at the latest: the other loops end, too.
        for level in levels.iter().rev() {
            while level.place[a] == level.place[b] {
                *common += level.entities;
                (a, b) = (level.ancestor[a] as usize, level.ancestor[b] as usize);
            }
        }
        while entity[a] == entity[b] {
            *common += 1;
            (a, b) = (parent[a] as usize, parent[b] as usize);
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A random tree in preorder, in which siblings have different entities.
    fn tree(steps: &[(u32, u32)]) -> (Vec<u32>, Vec<u32>) {
        let (mut entity, mut parent) = (vec![0], vec![0]);
        let mut path = vec![0_u32];
        for &(up, next) in steps {
            let keep = path.len().saturating_sub(up as usize).max(1);
            path.truncate(keep);
            let at = path[keep - 1];
            let taken = |e: u32| (1..entity.len()).any(|n| parent[n] == at && entity[n] == e);
            if !taken(next) {
                path.push(entity.len() as u32);
                parent.push(at);
                entity.push(next);
            }
        }
        (entity, parent)
    }

    fn outwards(entity: &[u32], parent: &[u32], node: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = node as usize;
        while at != 0 {
            path.push(entity[at]);
            at = parent[at] as usize;
        }
        path
    }

    fn check(entity: &[u32], parent: &[u32]) {
        let fast = Suffixes::new(entity, parent);
        let path = |node| {
            let mut path = outwards(entity, parent, node);
            path.push(0);
            path
        };
        let mut slow: Vec<u32> = (0..entity.len() as u32).collect();
        slow.sort_by_key(|&node| path(node));
        assert_eq!(fast.order, slow);
        for (at, &node) in slow.iter().enumerate() {
            assert_eq!(fast.place[node as usize] as usize, at);
            assert_eq!(fast.depth[node as usize] as usize + 1, path(node).len());
            let common = at.checked_sub(1).map_or(0, |before| {
                path(slow[before]).iter().zip(path(node)).take_while(|&(a, b)| *a == b).count()
            });
            assert_eq!(fast.common[at] as usize, common);
        }
    }

    proptest! {
        #[test]
        fn nodes_stand_in_the_order_of_their_paths_read_outwards(
            steps in prop::collection::vec((0..4_u32, 1..4_u32), 0..120),
        ) {
            let (entity, parent) = tree(&steps);
            check(&entity, &parent);
        }
    }

    #[test]
    fn long_paths_that_differ_only_at_the_outer_end() {
        // Three chains of the same 700 entities below different ones.
        let (mut entity, mut parent) = (vec![0], vec![0]);
        for chain in 0..3 {
            parent.push(0);
            entity.push(1000 + chain);
            for link in 0..700 {
                parent.push(entity.len() as u32 - 1);
                entity.push(1 + link);
            }
        }
        check(&entity, &parent);
    }
}
