//! Finds the blocks that are reachable. Passes begin at variables, OCaml's heap, thread-local variables and stacks. Two more
//! begin at garbage of that heap, and at memory of unknown use. What none of them meets is a leak, as `LeakSanitizer`
//! defines it.

use std::collections::VecDeque;
use std::ops::Range;

use crate::graph::{Edge, Node, Place, References, Root};

/// Whether a block is reachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// From a variable, a stack, a thread-local variable or OCaml's heap.
    Reachable,
    /// Only from blocks of OCaml's heap that are garbage: it is freed with them, if they have a finaliser.
    Garbage,
    /// Only from memory of which is not known whether it is in use.
    Elsewhere,
    /// No reference leads to it but those in other blocks that are not reachable.
    IndirectlyLeaked,
    /// Nothing refers to it, or only blocks that it refers to itself.
    Leaked,
}

/// How a node was reached.
#[derive(Clone, Copy, Debug)]
enum From {
    Root(u32),
    Edge(u32),
}

/// What leads to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'r> {
    /// A reference that is in no block.
    Root(&'r Root),
    /// A pointer in another block.
    Edge(Edge),
}

/// How a block is reached: a root, and pointers from block to block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path<'r> {
    /// Where it begins.
    pub root: &'r Root,
    /// The pointers to follow, in order.
    pub edges: Vec<Edge>,
}

/// Which blocks are reachable.
#[derive(Debug)]
pub struct Reachability<'r> {
    references: &'r References,
    states: Vec<State>,
    from: Vec<Option<From>>,
}

impl<'r> Reachability<'r> {
    /// Follows all references.
    pub fn new(references: &'r References) -> Self {
        let count = references.blocks.len();
        let mut search =
            Self { references, states: vec![State::Leaked; count], from: vec![None; count] };
        let starts = starts(references);
        for kind in Kind::ALL {
            search.follow_roots(&starts, kind);
        }
        search.among_leaked(&starts);
        search
    }

    /// Whether a block is reachable.
    pub fn state(&self, node: Node) -> State {
        self.states.get(node.0 as usize).copied().unwrap_or(State::Leaked)
    }

    /// The last step of a path to a block, of those from the first kind of root the shortest; none to one that is not reachable.
    pub fn last_step(&self, node: Node) -> Option<Step<'r>> {
        Some(match (*self.from.get(node.0 as usize)?)? {
            From::Root(root) => Step::Root(self.references.roots.get(root as usize)?),
            From::Edge(edge) => Step::Edge(*self.references.edges.get(edge as usize)?),
        })
    }

    /// A path to a block, as [`last_step`](Self::last_step) gives it; none to one that is not reachable.
    pub fn path(&self, node: Node) -> Option<Path<'r>> {
        let (mut at, mut edges) = (node, Vec::new());
        // No path is longer than there are blocks.
        for _ in 0..=self.references.blocks.len() {
            match self.last_step(at)? {
                Step::Root(root) => {
                    edges.reverse();
                    return Some(Path { root, edges });
                }
                Step::Edge(edge) => {
                    edges.push(edge);
                    at = edge.from;
                }
            }
        }
        None
    }

    /// Marks what roots of a kind lead to, breadth first.
    fn follow_roots(&mut self, starts: &[u32], kind: Kind) {
        let references = self.references;
        let state = kind.state();
        let mut waiting = VecDeque::new();
        for (number, root) in (0..).zip(&references.roots) {
            if kind == Kind::of(&root.place) {
                self.meet(root.to, From::Root(number), state, &mut waiting);
            }
        }
        while let Some(node) = waiting.pop_front() {
            for edge in edges(starts, node) {
                let to = references.edges[edge].to;
                self.meet(to, From::Edge(edge as u32), state, &mut waiting);
            }
        }
    }

    fn meet(&mut self, node: Node, from: From, state: State, waiting: &mut VecDeque<Node>) {
        let at = node.0 as usize;
        if self.states[at] == State::Leaked {
            self.states[at] = state;
            self.from[at] = Some(from);
            waiting.push_back(node);
        }
    }

    /// Marks what is retained by other blocks that are not reachable. Of blocks that refer to each other and to which
    /// nothing else does, one stays directly leaked.
    ///
    /// In the order in which a depth-first search leaves nodes, the last that is not met yet is retained by no other.
    fn among_leaked(&mut self, starts: &[u32]) {
        let left = self.order_of_leaving(starts);
        let mut is_met = vec![false; self.states.len()];
        for first in left.into_iter().rev() {
            if std::mem::replace(&mut is_met[first.0 as usize], true) {
                continue;
            }
            let mut waiting = vec![first];
            while let Some(node) = waiting.pop() {
                for edge in edges(starts, node) {
                    let to = self.references.edges[edge].to;
                    let at = to.0 as usize;
                    if self.states[at] == State::Leaked && !is_met[at] {
                        is_met[at] = true;
                        self.states[at] = State::IndirectlyLeaked;
                        waiting.push(to);
                    }
                }
            }
        }
    }

    /// The leaked nodes in the order in which a depth-first search leaves them.
    fn order_of_leaving(&self, starts: &[u32]) -> Vec<Node> {
        let (mut left, mut is_met) = (Vec::new(), vec![false; self.states.len()]);
        let mut path: Vec<(Node, Range<usize>)> = Vec::new();
        for first in (0..self.states.len() as u32).map(Node) {
            let mut next = Some(first);
            loop {
                if let Some(node) = next.take()
                    && self.states[node.0 as usize] == State::Leaked
                    && !std::mem::replace(&mut is_met[node.0 as usize], true)
                {
                    path.push((node, edges(starts, node)));
                }
                let Some((node, rest)) = path.last_mut() else { break };
                if let Some(edge) = rest.next() {
                    next = Some(self.references.edges[edge].to);
                } else {
                    left.push(*node);
                    path.pop();
                }
            }
        }
        left
    }
}

/// Kinds of roots, in the order in which they are followed. What a variable retains is not put down to a stack, whose
/// pointers change from moment to moment or are left from calls that have returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Variable,
    Heap,
    ThreadLocal,
    Stack,
    Garbage,
    Elsewhere,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Variable,
        Self::Heap,
        Self::ThreadLocal,
        Self::Stack,
        Self::Garbage,
        Self::Elsewhere,
    ];

    const fn of(place: &Place) -> Self {
        match place {
            Place::Data { .. } => Self::Variable,
            Place::Heap { is_garbage: true, .. } => Self::Garbage,
            Place::Heap { .. } => Self::Heap,
            Place::ThreadLocal(_) => Self::ThreadLocal,
            Place::Stack(_) | Place::SystemCall(_) => Self::Stack,
            Place::Elsewhere => Self::Elsewhere,
        }
    }

    /// The state of the blocks that it leads to.
    const fn state(self) -> State {
        match self {
            Self::Garbage => State::Garbage,
            Self::Elsewhere => State::Elsewhere,
            Self::Variable | Self::Heap | Self::ThreadLocal | Self::Stack => State::Reachable,
        }
    }
}

/// Where the edges of each node begin, and where those of the last end. Edges out of order are not followed.
fn starts(references: &References) -> Vec<u32> {
    let mut starts = vec![0_u32; references.blocks.len() + 1];
    for edge in &references.edges {
        if let Some(count) = starts.get_mut(edge.from.0 as usize + 1) {
            *count += 1;
        }
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    starts
}

fn edges(starts: &[u32], node: Node) -> Range<usize> {
    starts[node.0 as usize] as usize..starts[node.0 as usize + 1] as usize
}

#[cfg(test)]
mod tests {
    use memtrail_trace::BlockId;
    use proptest::prelude::*;

    use super::*;
    use crate::{Block, Bytes, HeapBlock, Thread};

    /// Roots of three kinds.
    fn references(count: u32, edges: &[(u32, u32)], roots: &[(u32, u8)]) -> References {
        let mut edges: Vec<Edge> = edges
            .iter()
            .map(|&(from, to)| Edge {
                from: Node(from % count),
                at: Bytes(8),
                to: Node(to % count),
            })
            .collect();
        edges.sort_by_key(|edge| edge.from);
        let garbage = Place::Heap { block: HeapBlock(3), at: Bytes(8), is_garbage: true };
        let places = [Place::Stack(Thread(1)), garbage, Place::Elsewhere];
        let root = |&(to, kind): &(u32, u8)| Root {
            place: places[usize::from(kind)].clone(),
            to: Node(to % count),
        };
        References {
            taken_unix_us: 7,
            modules: vec!["/bin/program".into()],
            blocks: (0..count)
                .map(|id| Block {
                    sampled: (id % 3 > 0).then_some(BlockId(u64::from(id))),
                    size: Bytes(u64::from(id)),
                })
                .collect(),
            edges,
            roots: roots.iter().map(root).collect(),
        }
    }

    /// What can be reached from some nodes, by going over all edges until nothing is new.
    fn closure(references: &References, mut reached: Vec<bool>) -> Vec<bool> {
        loop {
            let before = reached.clone();
            for edge in &references.edges {
                reached[edge.to.0 as usize] |= reached[edge.from.0 as usize];
            }
            if reached == before {
                return reached;
            }
        }
    }

    proptest! {
        #[test]
        fn states_are_those_of_the_transitive_closure(
            count in 1_u32..12,
            edges in prop::collection::vec((0_u32..12, 0_u32..12), 0..24),
            roots in prop::collection::vec((0_u32..12, 0_u8..3), 0..5),
        ) {
            let references = references(count, &edges, &roots);
            let found = Reachability::new(&references);
            let from = |kind: u8| {
                let mut of_roots = vec![false; count as usize];
                for &(to, known) in &roots {
                    of_roots[(to % count) as usize] |= known == kind;
                }
                closure(&references, of_roots)
            };
            let (reachable, garbage, elsewhere) = (from(0), from(1), from(2));
            let nodes = count as usize;
            let alone = |at: usize| closure(&references, (0..nodes).map(|node| node == at).collect());
            for at in 0..nodes {
                let state = found.state(Node(at as u32));
                prop_assert_eq!(state == State::Reachable, reachable[at]);
                prop_assert_eq!(state == State::Garbage, garbage[at] && !reachable[at]);
                let is_used = |at: usize| reachable[at] || garbage[at];
                prop_assert_eq!(state == State::Elsewhere, elsewhere[at] && !is_used(at));
                let is_leaked = |at: usize| !is_used(at) && !elsewhere[at];
                let direct: Vec<usize> = (0..nodes)
                    .filter(|&node| found.state(Node(node as u32)) == State::Leaked)
                    .collect();
                if is_leaked(at) {
                    // Each leak is retained by a direct one, and no direct one by another.
                    prop_assert!(direct.iter().any(|&from| alone(from)[at]));
                    if direct.contains(&at) {
                        prop_assert!(direct.iter().all(|&from| from == at || !alone(from)[at]));
                    }
                }
                let path = found.path(Node(at as u32));
                prop_assert_eq!(path.is_some(), !is_leaked(at));
                if let Some(path) = path {
                    let mut here = path.root.to;
                    for edge in &path.edges {
                        prop_assert_eq!(edge.from, here);
                        here = edge.to;
                    }
                    prop_assert_eq!(here, Node(at as u32));
                }
            }
        }

        #[test]
        fn files_read_as_they_were_written(
            count in 1_u32..12,
            edges in prop::collection::vec((0_u32..12, 0_u32..12), 0..24),
            roots in prop::collection::vec((0_u32..12, 0_u8..3), 0..5),
        ) {
            let mut written = references(count, &edges, &roots);
            for root in &mut written.roots {
                if let Place::Heap { is_garbage, .. } = &mut root.place {
                    *is_garbage = false;
                }
            }
            for position in [None, Some("server.c:14".to_owned())] {
                let variable = crate::Variable { name: "table+0x18".into(), position };
                written.roots.push(Root {
                    place: Place::Data {
                        module: crate::Module(0),
                        address: 0x4018,
                        variable: Some(variable),
                    },
                    to: Node(0),
                });
            }
            prop_assert_eq!(References::read(&written.to_bytes()), Ok(written));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(rest in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut bytes = crate::format::MAGIC.to_vec();
            bytes.push(1);
            bytes.extend(rest);
            crate::fuzz::references(&bytes);
        }
    }

    /// A list was put down to the stack, on which its newest element was left.
    #[test]
    fn what_a_variable_retains_is_not_put_down_to_a_stack() {
        let mut found = references(3, &[(0, 1), (1, 2)], &[(2, 0)]);
        let place = Place::Data { module: crate::Module(0), address: 0x4018, variable: None };
        found.roots.push(Root { place: place.clone(), to: Node(0) });
        let found = Reachability::new(&found);
        assert_eq!(found.path(Node(2)).map(|path| &path.root.place), Some(&place));
    }

    #[test]
    fn a_cycle_has_one_direct_leak() {
        let found = references(3, &[(0, 1), (1, 0), (1, 2)], &[]);
        let found = Reachability::new(&found);
        let states = [0, 1, 2].map(|at| found.state(Node(at)));
        assert_eq!(states, [State::Leaked, State::IndirectlyLeaked, State::IndirectlyLeaked]);
    }
}
