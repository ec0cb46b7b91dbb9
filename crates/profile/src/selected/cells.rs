//! How much belongs to each node of a call tree, as sums up to it: what a subtree has is a
//! difference of two.
//!
//! Sums are whole numbers, so that differences are exact and nothing depends on the order of
//! summing. Numbers of blocks and ages are scaled to have as many bits as the largest possible
//! sum leaves room for.

use std::ops::{Add, AddAssign};

use crate::time::Elapsed;

/// What belongs to a node or a subtree.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    /// Samples.
    pub samples: u64,
    /// Samples, each times the number that it stands for beyond itself.
    pub excess: u64,
    /// Samples in blocks that were never collected.
    pub live: u64,
    /// Blocks, estimated.
    pub blocks: f64,
    /// Σ samples · lifetime, in sample-microseconds.
    pub age: f64,
}

impl Cell {
    /// Mean lifetime of a byte in microseconds; 0 if there are none.
    pub fn mean_lifetime(&self) -> f64 {
        if self.samples == 0 { 0.0 } else { self.age / self.samples as f64 }
    }
}

impl Add for Cell {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            samples: self.samples + other.samples,
            excess: self.excess.saturating_add(other.excess),
            live: self.live + other.live,
            blocks: self.blocks + other.blocks,
            age: self.age + other.age,
        }
    }
}

impl AddAssign for Cell {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Sums over nodes in preorder.
#[derive(Clone, Debug)]
pub struct Cells {
    scale: Scale,
    /// Before each node, and after the last.
    sums: Vec<Whole>,
}

/// A cell in whole numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Whole {
    pub(super) samples: u64,
    pub(super) excess: u64,
    pub(super) live: u64,
    pub(super) blocks: u64,
    pub(super) age: u64,
}

impl Whole {
    #[inline]
    pub(super) fn add(&mut self, other: &Self) {
        self.samples = self.samples.wrapping_add(other.samples);
        self.excess = self.excess.wrapping_add(other.excess);
        self.live = self.live.wrapping_add(other.live);
        self.blocks = self.blocks.wrapping_add(other.blocks);
        self.age = self.age.wrapping_add(other.age);
    }
}

/// How blocks and ages become whole numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Whole numbers a block.
    blocks: f64,
    /// Bits of an age that are left out.
    age: u32,
}

impl Scale {
    /// For so many recorded blocks and samples up to the time of the last event, at this lowest rate.
    pub(super) fn new(recorded: usize, samples: u64, end: Elapsed, rate: f64) -> Self {
        // A block stands for 1 / rate blocks at most.
        let blocks = recorded as f64 / rate;
        let spare = (61.0 - blocks.max(1.0).log2().ceil()).clamp(-62.0, 30.0);
        let bits = |number: u64| 64 - number.leading_zeros();
        let longest = bits(samples) + bits(end.0);
        Self { blocks: spare.exp2(), age: longest.saturating_sub(63) }
    }

    #[inline]
    pub(super) fn blocks(self, weight: f64) -> u64 {
        (weight * self.blocks) as u64
    }

    #[inline]
    pub(super) fn age(self, samples: u64, lifetime: u64) -> u64 {
        if self.age == 0 {
            return samples.wrapping_mul(lifetime);
        }
        ((u128::from(samples) * u128::from(lifetime)) >> self.age) as u64
    }

    pub(super) fn cell(self, whole: &Whole) -> Cell {
        Cell {
            samples: whole.samples,
            excess: whole.excess,
            live: whole.live,
            blocks: whole.blocks as f64 / self.blocks,
            age: whole.age as f64 * f64::from(self.age).exp2(),
        }
    }
}

impl Cells {
    /// From what each node has by itself; there is room for one more.
    pub(super) fn new(scale: Scale, mut own: Vec<Whole>) -> Self {
        let mut sum = Whole::default();
        for cell in &mut own {
            let mut next = sum;
            next.add(cell);
            *cell = std::mem::replace(&mut sum, next);
        }
        own.push(sum);
        Self { scale, sums: own }
    }

    /// What belongs to the nodes `from..end`; those beyond the last have nothing.
    #[inline]
    pub fn subtree(&self, from: u32, end: u32) -> Cell {
        let at = |node: u32| self.sums[(node as usize).min(self.sums.len() - 1)];
        let (from, end) = (at(from), at(end.max(from)));
        self.scale.cell(&Whole {
            samples: end.samples.wrapping_sub(from.samples),
            excess: end.excess.wrapping_sub(from.excess),
            live: end.live.wrapping_sub(from.live),
            blocks: end.blocks.wrapping_sub(from.blocks),
            age: end.age.wrapping_sub(from.age),
        })
    }

    /// Samples of the nodes `from..end`, without the rest.
    #[inline]
    pub fn samples(&self, from: u32, end: u32) -> u64 {
        let at = |node: u32| self.sums[(node as usize).min(self.sums.len() - 1)].samples;
        at(end.max(from)).wrapping_sub(at(from))
    }

    /// What belongs to a node itself.
    #[inline]
    pub fn own(&self, node: u32) -> Cell {
        self.subtree(node, node.saturating_add(1))
    }

    /// What belongs to all nodes.
    pub fn all(&self) -> Cell {
        self.subtree(0, u32::MAX)
    }

    pub(super) fn memory(&self) -> usize {
        self.sums.len() * size_of::<Whole>()
    }
}
