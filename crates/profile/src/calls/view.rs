//! A selection that questions are asked of, or one of two side by side.

use super::entities::Entities;
use super::tree::CallTree;
use crate::estimate::Estimator;
use crate::selected::Cells;

/// A selection of a recording: all questions are asked of one.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The call paths.
    pub tree: &'a CallTree,
    /// Functions and sites on them.
    pub entities: &'a Entities,
    /// Sums of the selection.
    pub cells: &'a Cells,
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The selection.
    pub view: View<'a>,
    /// Turns its samples into bytes.
    pub estimator: &'a Estimator,
    /// Factor of its bytes, to make the sides comparable: 1, or one by the duration.
    pub scale: f64,
}
