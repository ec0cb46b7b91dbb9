//! A graph as two columns: where each node's successors end, and the successors.

use std::io;

use super::column::{Column, Place};

/// A graph.
#[derive(Debug, Default)]
pub(crate) struct Csr {
    /// Where the successors of each node start; one more for the end.
    pub(crate) starts: Column<u32>,
    pub(crate) targets: Column<u32>,
}

/// Pairs of numbers in pieces, so that none is moved when there are more.
#[derive(Debug)]
pub(crate) struct Pairs {
    place: Place,
    pieces: Vec<Piece>,
}

/// The first `count` pairs of a column.
#[derive(Debug)]
struct Piece {
    pairs: Column<[u32; 2]>,
    count: usize,
}

/// Pairs of a piece: as many bytes are worth a file.
const PIECE: usize = 1 << 17;

impl Piece {
    fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs[..self.count]
    }
}

impl Default for Pairs {
    /// In memory.
    fn default() -> Self {
        Self::new(&Place::Memory)
    }
}

impl Pairs {
    pub(crate) fn new(place: &Place) -> Self {
        Self { place: place.clone(), pieces: Vec::new() }
    }

    #[inline]
    pub(crate) fn push(&mut self, pair: (u32, u32)) {
        match self.pieces.last_mut() {
            Some(piece) if piece.count < PIECE => {
                piece.pairs[piece.count] = [pair.0, pair.1];
                piece.count += 1;
            }
            _ => self.piece(pair),
        }
    }

    #[cold]
    fn piece(&mut self, pair: (u32, u32)) {
        // Memory takes what the folder of files has no room for.
        let pairs = self.place.zeros(PIECE);
        let mut pairs = pairs.unwrap_or_else(|_| Column::from(vec![[0; 2]; PIECE]));
        pairs[0] = [pair.0, pair.1];
        self.pieces.push(Piece { pairs, count: 1 });
    }

    /// Adds what another thread gathered.
    pub(crate) fn append(&mut self, mut other: Self) {
        // The piece that is still being filled stays the last.
        other.pieces.append(&mut self.pieces);
        self.pieces = other.pieces;
    }

    /// Leaves out those that are not `wanted`.
    pub(crate) fn retain(&mut self, wanted: impl Fn((u32, u32)) -> bool) {
        for piece in &mut self.pieces {
            let mut kept = 0;
            for place in 0..piece.count {
                let pair = piece.pairs[place];
                if wanted((pair[0], pair[1])) {
                    piece.pairs[kept] = pair;
                    kept += 1;
                }
            }
            piece.count = kept;
        }
        self.pieces.retain(|piece| piece.count > 0);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u32)> + Clone {
        self.pieces.iter().flat_map(Piece::pairs).map(|pair| (pair[0], pair[1]))
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.iter().all(|piece| piece.count == 0)
    }
}

impl Csr {
    /// The graph of `edges` between `nodes` nodes.
    ///
    /// # Errors
    /// If there is no room for it.
    pub(crate) fn from_edges(
        place: &Place,
        nodes: usize,
        edges: &(impl Iterator<Item = (u32, u32)> + Clone),
    ) -> io::Result<Self> {
        Self::new(place, nodes, |edge| edges.clone().for_each(|(from, to)| edge(from, to)))
    }

    /// The graph of the edges that `pass` hands out, twice the same.
    ///
    /// # Errors
    /// If there is no room for it.
    pub(crate) fn new(
        place: &Place,
        nodes: usize,
        pass: impl Fn(&mut dyn FnMut(u32, u32)),
    ) -> io::Result<Self> {
        let mut starts: Column<u32> = place.zeros(nodes + 1)?;
        let some: &mut [u32] = &mut starts;
        pass(&mut |from, _| some[from as usize + 1] += 1);
        for node in 0..nodes {
            some[node + 1] += some[node];
        }
        let mut targets: Column<u32> = place.zeros(some[nodes] as usize)?;
        let into: &mut [u32] = &mut targets;
        pass(&mut |from, to| {
            let place = &mut some[from as usize];
            into[*place as usize] = to;
            *place += 1;
        });
        // Each start has moved to the next one's place.
        some.copy_within(..nodes, 1);
        some[0] = 0;
        Ok(Self { starts, targets })
    }

    pub(crate) fn nodes(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    #[inline]
    pub(crate) fn of(&self, node: u32) -> &[u32] {
        &self.targets[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }
}
