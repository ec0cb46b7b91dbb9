//! Walks over a tree of backtraces from the root, each node before its children and again after
//! them, as what depends on a whole path needs it: which functions are on it already.

use memtrail_trace::{StackId, StackTree};

/// What to do at each node. The root, which is no frame, is not visited.
pub(crate) trait Visit {
    /// Before the children.
    fn enter(&mut self, node: StackId);
    /// After the children.
    fn leave(&mut self, node: StackId);
}

/// Visits all nodes, the children of a node in the order of their ids.
pub(crate) fn walk(tree: &StackTree, visit: &mut impl Visit) {
    // The children as linked lists: filled from the last node to the first, so that each list
    // begins with the lowest id.
    let parents = tree.parents();
    let mut first = vec![0_u32; parents.len()];
    let mut next = vec![0_u32; parents.len()];
    for (node, parent) in parents.iter().enumerate().skip(1).rev() {
        next[node] = std::mem::replace(&mut first[parent.0 as usize], node as u32);
    }
    let mut path: Vec<u32> = Vec::new();
    let mut at = first.first().copied().unwrap_or(0);
    loop {
        if at != 0 {
            visit.enter(StackId(at));
            path.push(at);
            at = first[at as usize];
        } else if let Some(done) = path.pop() {
            visit.leave(StackId(done));
            at = next[done as usize];
        } else {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use memtrail_trace::FrameId;

    use super::*;

    #[derive(Default)]
    struct Log(String);

    impl Visit for Log {
        fn enter(&mut self, node: StackId) {
            self.0 += "(";
            self.0 += &node.0.to_string();
        }
        fn leave(&mut self, _: StackId) {
            self.0 += ")";
        }
    }

    #[test]
    fn each_node_encloses_its_children() {
        let mut tree = StackTree::new();
        let one = tree.intern(StackId::ROOT, FrameId(7));
        let two = tree.intern(StackId::ROOT, FrameId(8));
        let three = tree.intern(one, FrameId(7));
        tree.intern(three, FrameId(9));
        tree.intern(two, FrameId(7));
        tree.intern(one, FrameId(1));
        let mut log = Log::default();
        walk(&tree, &mut log);
        assert_eq!(log.0, "(1(3(4))(6))(2(5))");
        let mut log = Log::default();
        walk(&StackTree::new(), &mut log);
        assert_eq!(log.0, "");
    }
}
