//! A graph as two columns: where each node's successors end, and the successors.

/// A graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Csr {
    /// Where the successors of each node start; one more for the end.
    pub(crate) starts: Vec<u32>,
    pub(crate) targets: Vec<u32>,
}

/// Edges in pieces, as the threads that found them left them.
pub(crate) type Edges = Vec<Vec<(u32, u32)>>;

impl Csr {
    /// The graph of `edges` between `nodes` nodes.
    pub(crate) fn from_edges<'e>(
        nodes: usize,
        edges: impl Iterator<Item = &'e (u32, u32)> + Clone,
    ) -> Self {
        let mut starts = vec![0u32; nodes + 1];
        for (from, _) in edges.clone() {
            starts[*from as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut targets = vec![0; starts[nodes] as usize];
        for (from, to) in edges {
            let place = &mut starts[*from as usize];
            targets[*place as usize] = *to;
            *place += 1;
        }
        // Each start has moved to the next one's place.
        starts.copy_within(..nodes, 1);
        starts[0] = 0;
        Self { starts, targets }
    }

    pub(crate) fn nodes(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    #[inline]
    pub(crate) fn of(&self, node: u32) -> &[u32] {
        &self.targets[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }
}
